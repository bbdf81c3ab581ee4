import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol
import Testing

@testable import StatecastSQLite
@testable import StatecastTesting

@Suite struct `The blame of a value` {
    private static let paths = [
        "", "total", "sum", "log", "log/0", "log/2", "hosts", "hosts/a", "hosts/b/busy", "hosts/c/tags/1", "absent/x",
    ].map { $0.split(separator: "/").map(String.init) }

    // MARK: Compared with the states

    @Test(arguments: seeds(0..<20), [1, 6])
    func `Blame names the batches between whose states a value differs, and their actions`(
        seed: UInt64,
        maxActions: Int
    ) throws {
        let history = try RandomHistory(seed: seed)
        try history.append(batches: 60, maxActions: maxActions)
        let reader = try JournalReader(at: history.path)
        for path in Self.paths {
            let blame = try reader.blame(path, limit: .max)
            try check(blame, path, history.batches)
            #expect(blame.boundary == .initial && blame.searchedTo == Revision(0) && blame.isComplete)
            #expect(blame.revision == history.revision)
        }
    }

    @Test(arguments: seeds(0..<10)) func `Blame from a revision ignores later batches`(seed: UInt64) throws {
        let history = try RandomHistory(seed: seed)
        try history.append(batches: 40, maxActions: 4)
        let reader = try JournalReader(at: history.path)
        for revision in 0...(history.revision.rawValue + 2) {
            let batches = history.batches.filter { $0.record.to.rawValue <= revision }
            let blame = try reader.blame(["hosts", "a"], at: Revision(revision), limit: .max)
            try check(blame, ["hosts", "a"], batches)
            #expect(blame.revision == batches.last?.record.to ?? Revision(0))
        }
    }

    @Test(arguments: seeds(0..<10), [1, 3])
    func `Blame that continues from its cursor finds each change once`(seed: UInt64, limit: Int) throws {
        let history = try RandomHistory(seed: seed)
        try history.append(batches: 60, maxActions: 3)
        let reader = try JournalReader(at: history.path)
        for path in Self.paths {
            let whole = try reader.blame(path, limit: .max)
            #expect(try pages { try reader.blame(path, before: $0, limit: limit) } == whole.changes)
            // Other bounds end the search after each part, whether it found something or not.
            #expect(try pages { try reader.blame(path, before: $0, limit: .max, maxBytes: 1) } == whole.changes)
            #expect(try pages { try reader.blame(path, before: $0, limit: .max) { true } } == whole.changes)
        }
    }

    @Test func `Blame that is over says how far it has searched`() throws {
        let history = try RandomHistory(seed: 1)
        try history.append(batches: 20, maxActions: 3)
        let reader = try JournalReader(at: history.path)
        let blame = try reader.blame(["absent"], maxBytes: 1)
        let last = try #require(history.batches.last).record
        #expect(blame.changes.isEmpty && !blame.isComplete && blame.boundary == nil)
        #expect(blame.searchedTo == last.from && blame.next == last.sequence)
        var count = 0
        #expect(
            try reader.blame(["absent"]) {
                count += 1; return false
            }.isComplete
        )
        // One part of the records, after whose end nothing is left to stop.
        #expect(count == 0)
    }

    /// Compares the changes that were found with the states around each batch.
    private func check(_ blame: Blame, _ path: [String], _ batches: [RandomHistory.Batch]) throws {
        let found = Dictionary(uniqueKeysWithValues: blame.changes.map { ($0.sequence, $0) })
        #expect(blame.changes.map(\.sequence) == found.keys.sorted(by: >))
        for batch in batches {
            let (before, after) = (batch.before.part(at: path), batch.after.part(at: path))
            guard let change = found[batch.record.sequence] else {
                #expect(before == after, "\(path) at \(batch.record.to)")
                continue
            }
            #expect(before != after || change.kind == .replacedAbove || change.value == after, "\(path): \(change)")
            #expect(change.value == nil || change.value == after, "\(path): \(change)")
            #expect((change.from, change.to) == (batch.record.from, batch.record.to))
            #expect(Set(change.actions.compactMap(\.name)) == Set(batch.applied))
            #expect(change.isExact == (batch.applied.count == 1) && change.isConversion == batch.applied.isEmpty)
            #expect(
                batch.applied.isEmpty
                    || change.time == change.actions.map(\.time).max { $0.milliseconds < $1.milliseconds }
            )
        }
        #expect(found.count <= batches.count)
    }

    private func pages(_ search: (JournalSequence?) throws -> Blame) throws -> [Blame.Change] {
        var page = try search(nil)
        var changes = page.changes
        while let next = page.next {
            page = try search(next)
            changes += page.changes
        }
        return changes
    }

    // MARK: Beginnings

    @Test func `Blame of a pruned history ends at its first snapshot`() throws {
        let history = try RandomHistory(seed: 2)
        for _ in 0..<4 {
            try history.append(batches: 20, maxActions: 3)
            try history.storeSnapshot()
        }
        try history.bench.journal.prune(keeping: 0)
        let reader = try JournalReader(at: history.path)
        let oldest = try #require(try reader.snapshots().first)
        #expect(oldest.sequence == JournalSequence(60))
        for path in Self.paths {
            let blame = try reader.blame(path, limit: .max)
            try check(blame, path, Array(history.batches[60...]))
            #expect(blame.boundary == .snapshot && blame.searchedTo == oldest.revision && blame.isComplete)
            #expect(try pages { try reader.blame(path, before: $0, limit: 1) } == blame.changes)
        }
        #expect(try reader.blame(["total"], at: oldest.revision).changes.isEmpty)
        // A cursor of before the records were pruned.
        let stale = try reader.blame(["total"], before: JournalSequence(30))
        #expect(stale.changes.isEmpty && stale.isComplete && stale.searchedTo == oldest.revision)
        let failure = #expect(throws: JournalFailure.self) { try reader.blame(["total"], at: oldest.revision.previous) }
        #expect(failure?.code == .pruned)
    }

    @Test func `Blame ends where a primary has pruned the records during the search`() throws {
        let history = try RandomHistory(seed: 3)
        for _ in 0..<4 {
            // Larger than the first parts that are read.
            try history.append(batches: 400, maxActions: 3)
            try history.storeSnapshot()
        }
        let reader = try JournalReader(at: history.path)
        var isPruned = false
        let blame = try reader.blame(["absent"]) {
            if !isPruned { #expect(throws: Never.self) { try history.bench.journal.prune(keeping: 0) } }
            isPruned = true
            return false
        }
        #expect(isPruned && blame.isComplete && blame.boundary == .snapshot)
        #expect(try blame.searchedTo <= #require(try reader.snapshots().first).revision)
    }

    @Test func `Blame names a conversion by a new build, and no actions`() throws {
        let history = try RandomHistory(seed: 4)
        try history.append(batches: 10, maxActions: 2)
        try history.convert()
        let conversion = try #require(history.batches.last).record
        let reader = try JournalReader(at: history.path)
        let blame = try reader.blame(["sum"])
        #expect(blame.changes.map(\.revision) == [conversion.to] && blame.isComplete)
        let change = try #require(blame.changes.first)
        #expect(change.isConversion && !change.isExact && change.kind == .set && change.value == 1)
        #expect(change.time == EpochStart.sample(2, at: 0).time)
        #expect(try reader.blame(["total"], limit: 1).changes.first?.kind == .removed)
        for path in Self.paths { try check(reader.blame(path, limit: .max), path, history.batches) }
    }

    @Test func `Blame of a restored journal has the authors of the original`() throws {
        let history = try RandomHistory(seed: 5)
        try history.append(batches: 30, maxActions: 3)
        let (copy, target) = (NewPath(), NewPath())
        _ = try JournalReader(at: history.path).backup(to: copy.path)
        for path in Self.paths {
            let (original, backup) = (try JournalReader(at: history.path), try JournalReader(at: copy.path))
            #expect(try original.blame(path, limit: .max) == backup.blame(path, limit: .max))
        }
        // One that begins with a snapshot.
        for _ in 0..<2 {
            try history.append(batches: 10, maxActions: 3)
            try history.storeSnapshot()
        }
        try history.bench.journal.prune(keeping: 0)
        _ = try JournalReader(at: history.path).restore(to: target.path, begun: Timestamp(milliseconds: 0))
        let blame = try JournalReader(at: target.path).blame(["hosts"], limit: .max)
        try check(blame, ["hosts"], Array(history.batches[40...]))
        #expect(blame.boundary == .restored && blame.searchedTo == history.batches[40].record.from)
    }

    @Test func `Blame of a young journal finds nothing`() throws {
        let history = try RandomHistory(seed: 6)
        let blame = try JournalReader(at: history.path).blame(["total"])
        #expect(blame.changes.isEmpty && blame.isComplete && blame.boundary == .initial)
    }

    // MARK: Actions

    @Test func `Blame lists the actions first that mention more names of the path`() throws {
        let payloads: [Value] = [
            ["other": 1], ["busy": 1], ["host": "a", "busy": 1], ["host": "a"], ["hosts": [["a": ["busy": 1]]]],
        ]
        let bench = JournalBench(.normal)
        try bench.begin()
        var entries = RecordEntries()
        entries.begin(.primary, opened: JournalSequence(0), first: ActionNumber(1), time: .epoch, user: nil)
        for (index, payload) in payloads.enumerated() {
            entries.applied(.bytes(Value.array([.text("Act\(index)"), payload]).encoded))
        }
        let head = RecordHead(epoch: Epoch(1), from: Revision(0), to: Revision(5), summary: Summary(of: .null))
        let patch = try Patch(decoding: Value.map(["hosts": ["a": ["busy": [1]]]]).encoded).encode()
        let body = entries.body(head, frames: [], forgotten: [], patch: patch, maxMessageBytes: .max)
        let record = JournalRecord(sequence: JournalSequence(1), from: Revision(0), to: Revision(5), body: body)
        try bench.journal.append([record])
        let change = try #require(try JournalReader(at: bench.path).blame(["hosts", "a", "busy"]).changes.first)
        #expect(change.actions.compactMap(\.name) == ["Act4", "Act2", "Act1", "Act3", "Act0"])
        #expect(change.actions.map(\.id.description) == ["1.4", "1.2", "1.1", "1.3", "1.0"])
        bench.journal.close()
    }

    @Test func `A recorded action has the revision that it made, or saw`() throws {
        let history = try RandomHistory(seed: 7)
        try history.append(batches: 30, maxActions: 6)
        for batch in history.batches {
            let actions = try RecordedAction.list(reading: batch.record)
            #expect(actions.filter(\.isApplied).compactMap(\.name) == batch.applied)
            var revision = batch.record.from
            for (index, action) in actions.enumerated() {
                if action.isApplied { revision = revision.next }
                #expect(action.revision == revision && action.payload != nil)
                #expect(action.id == RecordedAction.ID(sequence: batch.record.sequence, index: index))
                #expect(RecordedAction.ID(action.id.description) == action.id)
            }
            #expect(revision == batch.record.to)
        }
        for text in ["", "1", "1.", ".1", "1.-1", "01.1", "1.1.1", "a.b", "1.+1"] {
            #expect(RecordedAction.ID(text) == nil)
        }
    }

    // MARK: Damage

    @Test func `Blame reports a damaged record that it reaches, and finds what is after it`() throws {
        let history = try RandomHistory(seed: 8)
        try history.append(batches: 30, maxActions: 1)
        history.bench.journal.close()
        try history.bench.sql("UPDATE record SET checksum = checksum + 1 WHERE sequence = 10")
        let reader = try JournalReader(at: history.path)
        #expect(try reader.blame([], limit: 1).changes.count == 1)
        let failure = #expect(throws: JournalFailure.self) { try reader.blame(["absent"]) }
        #expect(failure?.code == .damaged && failure?.message.contains("record 10") == true)
        #expect(try reader.blame(["absent"], before: JournalSequence(10)).isComplete)
    }

    // MARK: Reading backwards

    @Test func `Records are read backwards in parts of the requested bytes`() throws {
        let history = try RandomHistory(seed: 9)
        try history.append(batches: 30, maxActions: 3)
        let reader = try JournalReader(at: history.path)
        let all = history.batches.map(\.record)
        func records(before: UInt64, after: UInt64, _ maxBytes: Int = .max) throws -> [JournalRecord] {
            try reader.records(before: JournalSequence(before), after: JournalSequence(after), maxBytes: maxBytes)
        }
        #expect(try records(before: 31, after: 0) == all.reversed())
        #expect(try records(before: 21, after: 10) == all[10..<20].reversed())
        #expect(try records(before: 31, after: 0, 0) == [all[29]])
        let two = all[28].body.count + all[29].body.count
        #expect(try records(before: 31, after: 0, two) == [all[29], all[28]])
        #expect(try records(before: 31, after: 0, two - 1) == [all[29]])
        #expect(try records(before: 5, after: 4).isEmpty && records(before: 1, after: 0).isEmpty)
    }
}
