import Foundation
import StatecastJournal
import StatecastProtocol

@testable import StatecastSQLite
@testable import StatecastTesting

/// The journals that must have the same behaviour.
enum JournalKind: CaseIterable, Sendable {
    case memory, full, normal

    static let disk: [JournalKind] = [.full, .normal]
}

/// A journal in a folder of its own, which can be closed and reopened.
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
        }
    }

    /// Closes the journal, and opens it as another process would.
    func reopened() throws -> JournalContents? {
        journal.close()
        journal = another()
        return try journal.open()
    }

    /// The journal that another process would open; a journal in memory is the same object.
    func another() -> any Journal { kind == .memory ? journal : Self.make(kind, path) }

    /// Begins a history.
    func begin() throws {
        _ = try journal.open()
        try journal.begin(.sample, from: .sample(0))
    }

    /// A copy of the present files, as a crash would leave them.
    func crashed() throws -> JournalBench {
        let copy = JournalBench(kind)
        try FileManager.default.copyItem(atPath: path, toPath: copy.path)
        return copy
    }

    /// The readable content, from the oldest snapshot.
    func dump() throws -> JournalDump { try journal.dump() }
}

extension JournalBench {
    /// Changes the database directly.
    func sql(_ statement: String) throws {
        let database = try SQLiteConnection(path + "/journal.sqlite", busyTimeout: .seconds(10))
        try database.transaction(.writing) { try database.execute(statement) }
    }

    /// Marks a record as the last acknowledged one.
    func acknowledge(_ sequence: UInt64) throws {
        let marks = try CommitMarkFile(JournalDirectory(path: path))
        for _ in 0..<2 {
            marks.acknowledge(SnapshotEntry(sequence: JournalSequence(sequence), revision: Revision(3 * sequence)))
        }
    }
}
