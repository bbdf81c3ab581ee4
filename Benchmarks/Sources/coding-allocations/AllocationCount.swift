import MallocCounter

/// Allocations of many operations, without those of what lies between them.
struct AllocationCount {
    private var allocations: UInt64 = 0
    private var operations: UInt64 = 0

    /// Does the work once more, and counts what it allocates.
    mutating func add<Result>(_ work: () throws -> Result) rethrows -> Result {
        let before = malloc_count()
        let result = try work()
        allocations += malloc_count() - before
        operations += 1
        return result
    }

    var perThousand: UInt64 { allocations * 1_000 / operations }

    /// A count of nothing would stay below each threshold.
    static func checkThatItCounts() {
        // The first one may need the type's metadata, too.
        _ = hundredBytes()
        var count = AllocationCount()
        let array = count.add { hundredBytes() }
        guard count.allocations == 1 else {
            fatalError("of 1 allocation, of \(array.count) bytes, \(count.allocations) were counted")
        }
    }

    /// Not inlined, or nothing would be allocated for it.
    @inline(never)
    private static func hundredBytes() -> [UInt8] {
        [UInt8](repeating: UInt8.random(in: 0...1), count: 100)
    }
}
