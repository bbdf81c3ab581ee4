import CodingSubjects
import MallocCounter
import StatecastCoding

/// Counts the allocations of the measured parts of a loop.
private struct AllocationCount {
    private var allocations: UInt64 = 0
    private var operations: UInt64 = 0

    /// Runs the work and adds its allocations.
    mutating func add<Result>(_ work: () throws -> Result) rethrows -> Result {
        let before = malloc_count()
        let result = try work()
        allocations += malloc_count() - before
        operations += 1
        return result
    }

    var perThousand: UInt64 { allocations * 1_000 / operations }

    /// Traps if the counter does not count: zero would stay below each threshold.
    static func checkThatItCounts() {
        // The first call may allocate the type's metadata, too.
        _ = hundredBytes()
        var count = AllocationCount()
        let array = count.add { hundredBytes() }
        guard count.allocations == 1 else {
            fatalError("of 1 allocation, of \(array.count) bytes, \(count.allocations) were counted")
        }
    }

    /// Not inlined: the optimizer would remove the allocation.
    @inline(never)
    private static func hundredBytes() -> [UInt8] {
        [UInt8](repeating: UInt8.random(in: 0...1), count: 100)
    }
}

/// Encodes and decodes a value repeatedly.
func coding<Coded: Codable & Equatable>(_ name: String, _ value: Coded) throws {
    let coder = Statecast()
    let bytes = try coder.encode(value)
    try allocations("\(name), encode") { count in
        _ = try count.add { try coder.encode(value) }
    }
    try allocations("\(name), decode") { count in
        let decoded = try count.add { try coder.decode(Coded.self, from: bytes) }
        precondition(decoded == value, "the value must survive")
    }
}

/// Changes rows on a primary and on a replica.
func following<Rows: VehicleRows>(_ name: String, _ state: World<Rows>) throws {
    var primary = PrimaryRole(state)
    var maxBytes = 0
    try allocations("\(name), diff and encode") { count in
        primary.reduce()
        maxBytes = max(maxBytes, try count.add { try primary.publish() }.count)
    }
    var replica = ReplicaRole(primary.state)
    try allocations("\(name), decode and apply") { count in
        primary.reduce()
        let patch = try primary.publish()
        try count.add { try replica.apply(patch) }
        replica.show()
    }
    precondition(replica.state == primary.state, "the replica must follow")
    try allocations("\(name), decode, apply and digest") { count in
        primary.reduce()
        let patch = try primary.publish()
        try count.add {
            try replica.apply(patch)
            try replica.digest()
        }
        replica.show()
    }
    print("bytes", "\(name), patch", maxBytes, separator: "\t")
}

/// - Parameter operation: runs and counts once.
private func allocations(_ name: String, _ operation: (inout AllocationCount) throws -> Void) rethrows {
    // Warms up: the first operations allocate for types and coders.
    var once = AllocationCount()
    for _ in 0..<10 { try operation(&once) }
    var count = AllocationCount()
    for _ in 0..<100 { try operation(&count) }
    print("allocations per 1000", name, count.perThousand, separator: "\t")
}

// Prints a line for each count: its kind, its name and the count, separated by tabs. The counts are the same in each
// run if hashing is not seeded at random: SWIFT_DETERMINISTIC_HASHING=1.

AllocationCount.checkThatItCounts()

try coding("action", StepChangeRequested(step: 7))
try coding("enum action", FleetAction.loadChanged(load: 4_711))
try coding("record", Vehicle(number: 4_712))
try following("one row of 100,000", World(rows: Table<String, Vehicle>(count: 100_000)))
