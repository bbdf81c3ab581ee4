import Foundation
import Journal
import SQLiteJournal
import SyncProtocol

@testable import StatecastTesting

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
    func everything() throws -> Everything { try journal.everything() }
}
