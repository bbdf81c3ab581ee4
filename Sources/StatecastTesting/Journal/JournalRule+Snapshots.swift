internal import Dispatch
internal import Journal
internal import StateCore
internal import SyncProtocol

extension JournalRule {
    /// Storing and pruning.
    static let snapshots = [
        JournalRule(name: "pruning", promise: "keeps so much history as is asked for, and two snapshots") { place in
            let journal = try place.begin()
            for sequence: UInt64 in 1...50 {
                try journal.append([.sample(sequence)])
                if sequence.isMultiple(of: 10) { try journal.store(.sample(sequence)) }
            }
            try journal.prune(keeping: 2500)
            let kept = try journal.snapshots().map(\.sequence)
            try expect(
                "the snapshots that lead to 2,500 bytes of records",
                kept,
                [20, 30, 40, 50].map(JournalSequence.init)
            )
            try expectFailure("a record that is gone", .pruned) {
                try journal.records(after: JournalSequence(19), bytesMax: 1)
            }
            try expectFailure("a snapshot that is gone", .pruned) {
                try journal.snapshot(SnapshotEntry(sequence: JournalSequence(10), revision: Revision(30)))
            }
            try expect("sequence(at: 59), which is gone", try journal.sequence(at: Revision(59)), nil)
            try expect("sequence(at: 60)", try journal.sequence(at: Revision(60)), JournalSequence(20))
            try journal.prune(keeping: 0)
            let last = Everything(snapshots: [.sample(40), .sample(50)], records: (41...50).map { .sample($0) })
            try expect("what is left without history", try place.journal.everything(), last)
            try expect("the last record, opened again", try place.reopen()?.last, JournalSequence(50))
            try expect("what is left, opened again", try place.journal.everything(), last)
        },
        JournalRule(name: "interim", promise: "replaces an interim snapshot by the next one") { place in
            let journal = try place.begin()
            try journal.append((1...40).map { .sample($0) })
            for sequence: UInt64 in [10, 20] { try journal.store(.sample(sequence), isInterim: true) }
            func sequences() throws -> [JournalSequence] { try place.journal.snapshots().map(\.sequence) }
            try expect("the snapshots, with an interim one", try sequences(), [0, 20].map(JournalSequence.init))
            try place.reopen()
            let interim = JournalSnapshot.sample(20)
            try expect("an interim snapshot, opened again", try place.journal.snapshot(interim.entry), interim)
            for sequence: UInt64 in [30, 40] { try place.journal.store(.sample(sequence)) }
            try expect("the snapshots after an interim one", try sequences(), [0, 30, 40].map(JournalSequence.init))
        },
        JournalRule(name: "threads", promise: "stores snapshots and reads records while others are appended") { place in
            let journal = try place.begin()
            let count: UInt64 = 60
            nonisolated(unsafe) var failures: [(any Error)?] = [nil, nil]
            DispatchQueue.concurrentPerform(iterations: 2) { thread in
                do {
                    if thread == 0 {
                        for sequence in 1...count { try journal.append([.sample(sequence)]) }
                    } else {
                        try follow(journal, to: count)
                    }
                } catch {
                    failures[thread] = error
                }
            }
            for failure in failures.compactMap(\.self) { throw failure }
            let expected = Everything(
                snapshots: [.sample(count - 20), .sample(count)],
                records: (count - 19...count).map { .sample($0) }
            )
            try expect("what can be read", try place.journal.everything(), expected)
        },
    ]

    /// Reads what another thread appends, and stores a snapshot behind each twentieth.
    private static func follow(_ journal: any Journal, to end: UInt64) throws {
        var last: UInt64 = 0
        while last < end {
            for record in try journal.records(after: JournalSequence(last), bytesMax: 1000) {
                last += 1
                try expect("record \(last), while others are appended", record, .sample(last))
                guard last.isMultiple(of: 20) else { continue }
                try journal.store(.sample(last))
                try journal.prune(keeping: 0)
            }
        }
    }
}
