import CodingSubjects
import StateCoding

/// Encodes and decodes one value again and again.
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

/// Changes one row after the other, on a primary and on the replica that follows it.
func following<Rows: VehicleRows>(_ name: String, _ state: World<Rows>) throws {
    var primary = PrimaryRole(state)
    var bytesMax = 0
    try allocations("\(name), diff and encode") { count in
        primary.reduce()
        bytesMax = max(bytesMax, try count.add { try primary.publish() }.count)
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
    print("bytes", "\(name), patch", bytesMax, separator: "\t")
}

/// - Parameter operation: does it once, and counts.
private func allocations(_ name: String, _ operation: (inout AllocationCount) throws -> Void) rethrows {
    // What a type or a coder needs once is no cost of an operation.
    var once = AllocationCount()
    for _ in 0..<10 { try operation(&once) }
    var count = AllocationCount()
    for _ in 0..<100 { try operation(&count) }
    print("allocations per 1000", name, count.perThousand, separator: "\t")
}
