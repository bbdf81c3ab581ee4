import Journal
import StateCore
import SyncProtocol
import Testing

/// What a primary relies on, of every journal.
@Suite struct `A journal` {
    @Test(arguments: JournalKind.allCases)
    func `has no history until one is begun, and keeps that`(kind: JournalKind) throws {
        let bench = JournalBench(kind)
        #expect(try bench.journal.open() == nil)
        #expect(try bench.reopened() == nil)
        try bench.journal.begin(.sample, from: .sample(0))
        let contents = try #require(try bench.reopened())
        #expect(contents == JournalContents(identity: .sample, epochs: [], last: JournalSequence(0)))
        #expect(try bench.everything() == Everything(snapshots: [.sample(0)], records: []))
    }

    @Test(arguments: JournalKind.allCases)
    func `keeps what was appended, in order`(kind: JournalKind) throws {
        let bench = JournalBench(kind)
        try bench.begin()
        try bench.journal.append([.sample(1)])
        try bench.journal.append((2...40).map { .sample($0, bytes: Int($0)) })
        try bench.journal.append([])
        let expected = Everything(
            snapshots: [.sample(0)],
            records: [.sample(1)] + (2...40).map { .sample($0, bytes: Int($0)) }
        )
        #expect(try bench.everything() == expected)
        #expect(try bench.reopened()?.last == JournalSequence(40))
        #expect(try bench.everything() == expected)
        try bench.journal.append([.sample(41)])
        #expect(try bench.reopened()?.last == JournalSequence(41))
    }

    @Test(arguments: JournalKind.allCases)
    func `counts its epochs`(kind: JournalKind) throws {
        let bench = JournalBench(kind)
        try bench.begin()
        try bench.journal.claim(.sample(1, at: 0))
        #expect(try bench.reopened()?.epochs == [.sample(1, at: 0)])
        try bench.journal.append([.sample(1)])
        try bench.journal.claim(.sample(2, at: 3))
        #expect(try bench.reopened()?.epochs == [.sample(1, at: 0), .sample(2, at: 3)])
    }

    @Test(arguments: JournalKind.allCases)
    func `hands out records in pieces, at least one at a time`(kind: JournalKind) throws {
        let bench = JournalBench(kind)
        try bench.begin()
        try bench.journal.append((1...10).map { .sample($0) })
        #expect(try bench.journal.records(after: JournalSequence(0), bytesMax: 1).map(\.sequence.rawValue) == [1])
        #expect(
            try bench.journal.records(after: JournalSequence(3), bytesMax: 350).map(\.sequence.rawValue) == [4, 5, 6]
        )
        #expect(
            try bench.journal.records(after: JournalSequence(9), bytesMax: 1 << 20).map(\.sequence.rawValue) == [10]
        )
        #expect(try bench.journal.records(after: JournalSequence(10), bytesMax: 1 << 20) == [])
    }

    @Test(arguments: JournalKind.allCases)
    func `finds the record that leads to a revision`(kind: JournalKind) throws {
        let bench = JournalBench(kind)
        try bench.begin()
        try bench.journal.append((1...9).map { .sample($0) })
        for revision: UInt64 in 0...30 {
            let expected = JournalSequence(min(9, revision / 3))
            #expect(try bench.journal.sequence(at: Revision(revision)) == expected, "\(revision)")
        }
    }

    @Test(arguments: JournalKind.allCases)
    func `keeps snapshots, and so much history as is asked for`(kind: JournalKind) throws {
        let bench = JournalBench(kind)
        try bench.begin()
        for sequence: UInt64 in 1...50 {
            try bench.journal.append([.sample(sequence)])
            if sequence.isMultiple(of: 10) { try bench.journal.store(.sample(sequence)) }
        }
        try bench.journal.prune(keeping: 2500)
        #expect(try bench.journal.snapshots().map(\.sequence.rawValue) == [20, 30, 40, 50])
        #expect(throws: JournalFailure.self) { try bench.journal.records(after: JournalSequence(19), bytesMax: 1) }
        #expect(try bench.journal.sequence(at: Revision(59)) == nil)
        #expect(try bench.journal.sequence(at: Revision(60)) == JournalSequence(20))
        try bench.journal.prune(keeping: 0)
        let expected = Everything(snapshots: [.sample(40), .sample(50)], records: (41...50).map { .sample($0) })
        #expect(try bench.everything() == expected)
        #expect(try bench.reopened()?.last == JournalSequence(50))
        #expect(try bench.everything() == expected)
        try bench.journal.append([.sample(51)])
        #expect(try bench.everything().records.count == 11)
    }

    @Test(arguments: JournalKind.allCases)
    func `is one primary's at a time`(kind: JournalKind) throws {
        let bench = JournalBench(kind)
        try bench.begin()
        let other = JournalBench(kind, at: bench.path)
        let second = kind == .memory ? bench.journal : other.journal
        let failure = #expect(throws: JournalFailure.self) { try second.open() }
        #expect(failure?.code == .inUse)
        bench.journal.close()
        #expect(try second.open() != nil)
        second.close()
    }

    @Test func `in memory is full when it is`() throws {
        let journal = MemoryJournal(bytesMax: 250)
        _ = try journal.open()
        try journal.begin(.sample, from: .sample(0))
        try journal.append([.sample(1), .sample(2)])
        let failure = #expect(throws: JournalFailure.self) { try journal.append([.sample(3, bytes: 10), .sample(4)]) }
        #expect(failure?.code == .storageFull)
        try journal.append([.sample(3, bytes: 50)])
        #expect(try journal.records(after: JournalSequence(0), bytesMax: .max).count == 3)
    }
}
