internal import Journal
internal import StateCore
internal import SyncProtocol

extension JournalRule {
    /// Appending and reading.
    static let records = [
        JournalRule(name: "records", promise: "keeps what was appended, in order") { place in
            let journal = try place.begin()
            try journal.append([.sample(1)])
            try journal.append((2...40).map { .sample($0, bytes: Int($0)) })
            try journal.append([])
            let records: [JournalRecord] = [.sample(1)] + (2...40).map { .sample($0, bytes: Int($0)) }
            let expected = Everything(snapshots: [.sample(0)], records: records)
            try expect("what can be read", try place.journal.everything(), expected)
            try expect("the last one, opened again", try place.reopen()?.last, JournalSequence(40))
            try expect("what can be read, opened again", try place.journal.everything(), expected)
            try place.journal.append([.sample(41)])
            try expect("the one behind the last", try place.reopen()?.last, JournalSequence(41))
        },
        JournalRule(name: "pieces", promise: "hands out records in pieces, at least one at a time") { place in
            let journal = try place.begin()
            try journal.append((1...10).map { .sample($0) })
            for (after, bytesMax, expected) in [(0, 1, 1...1), (3, 350, 4...6), (9, 1 << 20, 10...10)] {
                let records = try journal.records(after: JournalSequence(UInt64(after)), bytesMax: bytesMax)
                try expect(
                    "records(after: \(after), bytesMax: \(bytesMax)), at 100 bytes each",
                    records.map(\.sequence),
                    expected.map { JournalSequence(UInt64($0)) }
                )
            }
            try expect("records(after: 10)", try journal.records(after: JournalSequence(10), bytesMax: 1 << 20), [])
        },
        JournalRule(name: "revisions", promise: "finds the record that leads to a revision") { place in
            let journal = try place.begin()
            try journal.append((1...9).map { .sample($0) })
            for revision: UInt64 in 0...30 {
                try expect(
                    "sequence(at: \(revision)), of 9 records with 3 revisions each",
                    try journal.sequence(at: Revision(revision)),
                    JournalSequence(min(9, revision / 3))
                )
            }
        },
    ]
}
