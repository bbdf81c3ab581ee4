import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastThreading
import Testing

@testable import StatecastTesting

/// A journal whose batches make random changes, and each state that it led to.
final class RandomHistory {
    /// A batch, and the states around it.
    struct Batch {
        let record: JournalRecord
        let before: Value
        let after: Value
        /// The names of the applied actions.
        let applied: [String]
    }

    let bench = JournalBench(.normal)
    private(set) var batches: [Batch] = []
    private(set) var state: Value = ["hosts": ["a": ["busy": 0]], "log": [], "total": 0]
    private(set) var revision = Revision(0)
    private var random: SplitMix64
    private var count = 0
    /// The last number of each session.
    private var numbers = [0, 0, 0]
    private var history: History

    var path: String { bench.path }
    private var sequence: JournalSequence { JournalSequence(UInt64(batches.count)) }

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        history = History(lineage: JournalIdentity.sample.lineage, epoch: Epoch(1), summary: Summary(of: state))
        _ = try bench.journal.open()
        try bench.journal.begin(.sample, from: snapshot())
        try bench.journal.claim(.sample(1, at: 0))
    }

    deinit { bench.journal.close() }

    /// Appends batches of up to some actions each.
    func append(batches count: Int, maxActions: Int) throws {
        let first = batches.count
        for _ in 0..<count { try appendBatch(actions: 1 + random.below(maxActions)) }
        try bench.journal.append(batches[first...].map(\.record))
    }

    private func appendBatch(actions count: Int) throws {
        var (entries, next, applied) = (RecordEntries(), state, [String]())
        for _ in 0..<count {
            let session = random.below(numbers.count)
            numbers[session] += 1
            self.count += 1
            entries.begin(
                SessionID(high: 7, low: UInt64(session)),
                opened: JournalSequence(0),
                first: ActionNumber(UInt64(numbers[session])),
                time: Timestamp(milliseconds: 1_700_000_000_000 + Int64(self.count)),
                user: random.oneIn(2) ? "ana" : nil
            )
            let name = "Action\(self.count)"
            guard !random.oneIn(5) else {
                entries.rejected(.bytes(Value.array([.text(name), [:]]).encoded), Rejection(.refused, "one of five"))
                continue
            }
            entries.applied(.bytes(Value.array([.text(name), change(&next)]).encoded))
            applied.append(name)
        }
        try append(entries, to: next, applied: applied)
    }

    /// Appends the record of a start that converted the state.
    func convert() throws {
        var next = state
        next["total"] = nil
        next["sum"] = 1
        try bench.journal.claim(.sample(2, at: revision.rawValue))
        try append(RecordEntries(), to: next, applied: [], migrations: 1)
        try bench.journal.append([#require(batches.last).record])
    }

    private func append(
        _ entries: RecordEntries,
        to next: Value,
        applied: [String],
        migrations: Int? = nil
    ) throws {
        let to = revision.advanced(by: migrations == nil ? applied.count : 1)
        let head = RecordHead(
            epoch: Epoch(migrations == nil ? 1 : 2),
            from: revision,
            to: to,
            summary: Summary(of: next),
            migrations: migrations
        )
        let patch = to == revision ? [] : Patch(from: state, to: next).encode()
        let body = entries.body(head, frames: [], forgotten: [], patch: patch, maxMessageBytes: .max)
        let record = JournalRecord(sequence: sequence.next, from: revision, to: to, body: body)
        try history.replay(BatchRecord(decoding: body), at: record.sequence, limits: Limits())
        batches.append(Batch(record: record, before: state, after: next, applied: applied))
        (state, revision) = (next, to)
    }

    /// Changes one place.
    ///
    /// - Returns: the payload of an action that does so.
    private func change(_ state: inout Value) -> Value {
        let host = random.pick(["a", "b", "c"])
        let value = Value(random.below(4))
        switch random.below(8) {
        case 0: state["hosts"]?[host] = ["busy": value, "tags": ["x", value]]
        case 1: state["hosts"]?[host] = nil
        case 2, 3: if state["hosts"]?[host] != nil { state["hosts"]?[host]?["busy"] = value }
        case 4:
            var log = state["log"]?.arrayValue ?? []
            log.append(value)
            if log.count > 3 { log.removeFirst() }
            state["log"] = .array(log)
        case 5 where random.oneIn(6): state["hosts"] = [:]
        case 6: break
        default: state["total"] = value
        }
        return ["host": .text(host), "value": value]
    }

    /// Stores a snapshot of the last state.
    func storeSnapshot() throws { try bench.journal.store(snapshot(), as: .regular) }

    private func snapshot() -> JournalSnapshot {
        let context = SnapshotContext(
            epoch: Epoch(1),
            stateVersion: EpochStart.sample(1, at: 0).stateVersion,
            summary: Summary(of: state),
            sessions: history.sessions,
            migrations: 0
        )
        let entry = SnapshotEntry(sequence: sequence, revision: revision)
        return JournalSnapshot(entry, context: context.encoded, state: state.encoded)
    }
}
