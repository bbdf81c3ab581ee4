import Dispatch
import StatecastCore
import StatecastJournal
import StatecastProtocol

extension JournalRule {
    static let all = opening + records + snapshots

    /// Histories, epochs, and the exclusive use of a journal.
    private static let opening = [
        JournalRule(name: "history", promise: "has no history until begin(), and keeps that one") { place in
            for time in ["when new", "opened again"] { try expect("its contents \(time)", try place.reopen(), nil) }
            try place.journal.begin(.sample, from: .sample(0))
            let contents = JournalContents(identity: .sample, epochs: [], last: JournalSequence(0))
            try expect("its contents, begun", try place.reopen(), contents)
            try expect(
                "what can be read",
                try place.journal.dump(),
                JournalDump(snapshots: [.sample(0)], records: [])
            )
        },
        JournalRule(name: "epochs", promise: "keeps the claimed epochs in order") { place in
            let journal = try place.begin()
            try journal.claim(.sample(1, at: 0))
            try journal.append([.sample(1)])
            try journal.claim(.sample(2, at: 3))
            let epochs: [EpochStart] = [.sample(1, at: 0), .sample(2, at: 3)]
            try expect("epochs()", try journal.epochs(), epochs)
            try expect("the epochs, opened again", try place.reopen()?.epochs, epochs)
        },
        JournalRule(name: "one", promise: "serves one primary at a time") { place in
            _ = try place.begin()
            let second = try place.another()
            try expectFailure("open() of a second one", .inUse) { try second.open() }
            place.close()
            try expect("its history, after the first one is closed", try second.open()?.identity, .sample)
            second.close()
        },
        JournalRule(name: "reductions", promise: "remembers the action that crashes its primary") { place in
            let session = SessionID(high: 1, low: 2)
            try place.begin().crashMarker.begin(session, ActionNumber(7))
            for count in 1...CrashMarker.maxCrashes {
                try place.reopen()
                let crashMarker = try place.journal.crashMarker
                crashMarker.open()
                let isPoison = count == CrashMarker.maxCrashes
                let suspect = Suspect(session: session, number: ActionNumber(7), isPoison: isPoison)
                let what = "whether an action is poison, after \(count) crashes during its reduction"
                try expect(what, crashMarker.suspects, [suspect])
                crashMarker.begin(session, ActionNumber(7))
            }
        },
    ]

    /// Appending and reading.
    private static let records = [
        JournalRule(name: "records", promise: "keeps appended records in order") { place in
            let journal = try place.begin()
            try journal.append([.sample(1)])
            try journal.append((2...40).map { .sample($0, bytes: Int($0)) })
            try journal.append([])
            let records: [JournalRecord] = [.sample(1)] + (2...40).map { .sample($0, bytes: Int($0)) }
            let expected = JournalDump(snapshots: [.sample(0)], records: records)
            try expect("what can be read", try place.journal.dump(), expected)
            try expect("the last one, opened again", try place.reopen()?.last, JournalSequence(40))
            try expect("what can be read, opened again", try place.journal.dump(), expected)
            try place.journal.append([.sample(41)])
            try expect("the one after the last", try place.reopen()?.last, JournalSequence(41))
        },
        JournalRule(name: "pieces", promise: "returns records in pieces, at least one at a time") { place in
            let journal = try place.begin()
            try journal.append((1...10).map { .sample($0) })
            for (after, maxBytes, expected) in [(0, 1, 1...1), (3, 350, 4...6), (9, 1 << 20, 10...10)] {
                let records = try journal.records(after: JournalSequence(UInt64(after)), maxBytes: maxBytes)
                try expect(
                    "records(after: \(after), maxBytes: \(maxBytes)), at 100 bytes each",
                    records.map(\.sequence),
                    expected.map { JournalSequence(UInt64($0)) }
                )
            }
            try expect("records(after: 10)", try journal.records(after: JournalSequence(10), maxBytes: 1 << 20), [])
        },
    ]

    /// Storing and pruning.
    private static let snapshots = [
        JournalRule(name: "pruning", promise: "keeps the requested history, and two snapshots") { place in
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
            try expectFailure("a pruned record", .pruned) {
                try journal.records(after: JournalSequence(19), maxBytes: 1)
            }
            try expectFailure("a pruned snapshot", .pruned) {
                try journal.snapshot(SnapshotEntry(sequence: JournalSequence(10), revision: Revision(30)))
            }
            try journal.prune(keeping: 0)
            let last = JournalDump(snapshots: [.sample(40), .sample(50)], records: (41...50).map { .sample($0) })
            try expect("the rest without history", try place.journal.dump(), last)
            try expect("the last record, opened again", try place.reopen()?.last, JournalSequence(50))
            try expect("the rest, opened again", try place.journal.dump(), last)
        },
        JournalRule(name: "interim", promise: "replaces an interim snapshot with the next one") { place in
            let journal = try place.begin()
            try journal.append((1...40).map { .sample($0) })
            for sequence: UInt64 in [10, 20] { try journal.store(.sample(sequence), as: .interim) }
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
            let expected = JournalDump(
                snapshots: [.sample(count - 20), .sample(count)],
                records: (count - 19...count).map { .sample($0) }
            )
            try expect("what can be read", try place.journal.dump(), expected)
        },
    ]

    /// Reads the records that another thread appends, and stores a snapshot after each twentieth.
    private static func follow(_ journal: any Journal, to end: UInt64) throws {
        var last: UInt64 = 0
        while last < end {
            for record in try journal.records(after: JournalSequence(last), maxBytes: 1000) {
                last += 1
                try expect("record \(last), while others are appended", record, .sample(last))
                guard last.isMultiple(of: 20) else { continue }
                try journal.store(.sample(last))
                try journal.prune(keeping: 0)
            }
        }
    }
}
