import Foundation
import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastSQLite

@testable import StatecastTesting

/// A journal of a counter, with real patches and two actions in each batch, of which every
/// third is rejected.
final class CounterJournal {
    let bench: JournalBench
    private(set) var tree: Value = ["count": 0]
    private(set) var revision: UInt64 = 0
    private var sequence: UInt64 = 0
    private var number: UInt64 = 1
    private var history = History(
        lineage: JournalIdentity.sample.lineage,
        epoch: Epoch(1),
        summary: Summary(of: ["count": 0])
    )

    static let session = SessionID(high: 7, low: 7)

    var path: String { bench.path }

    /// Begins a history, and its first epoch.
    init(_ kind: JournalKind = .full, at path: String? = nil) throws {
        bench = JournalBench(kind, at: path)
        _ = try bench.journal.open()
        try bench.journal.begin(.sample, from: snapshot())
        try bench.journal.claim(.sample(1, at: 0))
    }

    deinit { bench.journal.close() }

    /// A journal with batches, and snapshots after some of them.
    static func with(batches: UInt64, snapshots: Set<UInt64> = []) throws -> CounterJournal {
        let journal = try CounterJournal()
        for batch in 1...batches {
            try journal.append()
            if snapshots.contains(batch) { try journal.storeSnapshot() }
        }
        return journal
    }

    /// Appends a batch.
    func append() throws { try bench.journal.append([nextRecord()]) }

    /// A batch that continues from the last one.
    func nextRecord(digest: UInt64? = nil) throws -> JournalRecord {
        sequence += 1
        let from = revision
        var entries = RecordEntries()
        entries.begin(
            Self.session,
            opened: JournalSequence(0),
            first: ActionNumber(number),
            time: Timestamp(milliseconds: 1_700_000_000_000),
            user: nil
        )
        for _ in 0..<2 {
            let action: Value = ["Counted", ["by": 1]]
            if number.isMultiple(of: 3) {
                entries.rejected(.bytes(action.encoded), Rejection(.refused, "every third is"))
            } else {
                entries.applied(.bytes(action.encoded))
                revision += 1
            }
            number += 1
        }
        let next: Value = ["count": Value(revision)]
        let summary = Summary(of: next)
        let head = RecordHead(
            epoch: Epoch(1),
            from: Revision(from),
            to: Revision(revision),
            summary: Summary(digest: digest ?? summary.digest, bytes: summary.bytes)
        )
        let patch = from == revision ? [] : Patch(from: tree, to: next).encode()
        let body = entries.body(head, frames: [], forgotten: [], patch: patch, maxMessageBytes: .max)
        let batch = try BatchRecord(decoding: body)
        try history.replay(batch, at: JournalSequence(sequence), limits: Limits())
        tree = next
        return JournalRecord(
            sequence: JournalSequence(sequence),
            from: batch.from,
            to: batch.to,
            body: body
        )
    }

    /// Stores a snapshot of the state.
    func storeSnapshot(of state: Value? = nil, sessions: SessionTable? = nil, as kind: SnapshotKind = .regular) throws {
        try bench.journal.store(snapshot(of: state, sessions: sessions), as: kind)
    }

    /// The sessions after the last record.
    var sessions: SessionTable { history.sessions }

    private func snapshot(of state: Value? = nil, sessions: SessionTable? = nil) -> JournalSnapshot {
        let tree = state ?? tree
        let context = SnapshotContext(
            epoch: Epoch(1),
            stateVersion: EpochStart.sample(1, at: 0).stateVersion,
            summary: Summary(of: tree),
            sessions: sessions ?? self.sessions,
            migrations: 0
        )
        let entry = SnapshotEntry(sequence: JournalSequence(sequence), revision: Revision(revision))
        return JournalSnapshot(entry, context: context.encoded, state: tree.encoded)
    }

    /// The revision after a batch.
    static func revision(after batch: UInt64) -> Revision { Revision(2 * batch - 2 * batch / 3) }
}

/// All files of a journal that are not empty, by name.
func files(of path: String) throws -> [String: Data] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: path)
    let lasting = names.filter { !$0.hasSuffix("-shm") && $0 != "lock" && $0 != "snapshots" }
    let contents = try lasting.map { ($0, try Data(contentsOf: URL(filePath: "\(path)/\($0)"))) }
    return Dictionary(uniqueKeysWithValues: contents).filter { !$0.value.isEmpty }
}

/// A path without a file; whatever is created there is removed with the object.
final class NewPath {
    let path = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var exists: Bool { FileManager.default.fileExists(atPath: path) }
}
