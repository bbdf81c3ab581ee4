import Foundation
import Journal
import SQLiteJournal
import StateCore
import SyncProtocol

/// The journals that have to behave alike.
enum JournalKind: CaseIterable, Sendable {
    case memory, full, normal, relaxed

    static let disk: [JournalKind] = [.full, .normal, .relaxed]
}

/// A journal in a folder of its own, which can be closed and opened anew.
final class JournalBench {
    let path: String
    private(set) var journal: any Journal
    private let kind: JournalKind

    init(_ kind: JournalKind, at path: String? = nil) {
        self.kind = kind
        self.path = path ?? FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)").path
        journal = Self.make(kind, self.path)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private static func make(_ kind: JournalKind, _ path: String) -> any Journal {
        switch kind {
        case .memory: MemoryJournal()
        case .full: SQLiteJournal(at: path, durability: .full)
        case .normal: SQLiteJournal(at: path, durability: .normal)
        case .relaxed: SQLiteJournal(at: path, durability: .relaxed)
        }
    }

    /// The journal as another process would find it.
    func reopened() throws -> JournalContents? {
        journal.close()
        journal = another()
        return try journal.open()
    }

    /// What another process would open; what lives in memory only, there is once.
    func another() -> any Journal { kind == .memory ? journal : Self.make(kind, path) }

    /// Begins a history.
    func begin() throws {
        _ = try journal.open()
        try journal.begin(.sample, from: .sample(0))
    }

    /// A copy of the files as they are now, as a crash would leave them.
    func crashed() throws -> JournalBench {
        let copy = JournalBench(kind)
        try FileManager.default.copyItem(atPath: path, toPath: copy.path)
        return copy
    }

    /// All that can be read, from the oldest snapshot on.
    func everything() throws -> Everything {
        let snapshots = try journal.snapshots()
        var records: [JournalRecord] = []
        var last = snapshots.first?.sequence ?? JournalSequence(0)
        while true {
            let more = try journal.records(after: last, bytesMax: 1 << 16)
            guard let end = more.last else { break }
            records += more
            last = end.sequence
        }
        return Everything(snapshots: try snapshots.map { try journal.snapshot($0) }, records: records)
    }
}

struct Everything: Equatable {
    let snapshots: [JournalSnapshot]
    let records: [JournalRecord]
}

extension JournalIdentity {
    static var sample: JournalIdentity {
        guard let store = try? StoreName("bench") else { preconditionFailure("a store's name") }
        return JournalIdentity(
            store: store,
            lineage: Lineage(bits: 0xA1),
            begun: Timestamp(milliseconds: 1_700_000_000_000)
        )
    }
}

extension EpochStart {
    static func sample(_ epoch: UInt64, at revision: UInt64) -> EpochStart {
        EpochStart(
            epoch: Epoch(epoch),
            revision: Revision(revision),
            fingerprint: UInt64.max - epoch,
            time: Timestamp(milliseconds: 1_700_000_000_000 + Int64(epoch))
        )
    }
}

extension JournalSnapshot {
    /// A snapshot behind a record, three times as many revisions on.
    static func sample(_ sequence: UInt64, bytes: Int = 1000) -> JournalSnapshot {
        JournalSnapshot(
            SnapshotEntry(sequence: JournalSequence(sequence), revision: Revision(3 * sequence)),
            context: Array("context \(sequence)".utf8),
            state: (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(sequence)) }
        )
    }
}

extension JournalRecord {
    /// A record of three revisions.
    static func sample(_ sequence: UInt64, bytes: Int = 100) -> JournalRecord {
        JournalRecord(
            sequence: JournalSequence(sequence),
            from: Revision(3 * sequence - 3),
            to: Revision(3 * sequence),
            body: (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ Int(sequence)) }
        )
    }
}
