import Foundation
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import Testing

@testable import StatecastSQLite
@testable import StatecastTesting

/// Damage may be repairable, so a refused start changes no file.
@Suite struct `A refused start` {
    /// A journal after a crash, with records in the database and in its log.
    private static func crashed() throws -> JournalBench {
        let journal = try CounterJournal.with(batches: 20, snapshots: [10])
        _ = try journal.bench.reopened()
        for _ in 0..<60 { try journal.append() }
        return try journal.bench.crashed()
    }

    enum Damage: CaseIterable {
        case flippedLog, cutLog, missingLog, emptyDatabase, cutDatabase, garbage, missingDatabase
        case missingMarks, zeroMarks, foreignMarks, cutMarks, missingMarksAndDatabase, claimedEpoch
        case missingSnapshots

        func apply(at path: String) throws {
            let (database, log, marks) = ("\(path)/journal.sqlite", "\(path)/journal.sqlite-wal", "\(path)/marks")
            switch self {
            case .flippedLog: try change(log) { $0[$0.count / 2] ^= 1 }
            case .cutLog: try change(log) { $0 = $0.prefix($0.count / 2) }
            case .missingLog: try FileManager.default.removeItem(atPath: log)
            case .emptyDatabase: try change(database) { $0 = Data() }
            case .cutDatabase: try change(database) { $0 = $0.prefix($0.count / 2) }
            case .garbage: try change(database) { $0 = Data("nothing that SQLite knows".utf8) }
            case .missingDatabase: try FileManager.default.removeItem(atPath: database)
            case .missingMarks: try FileManager.default.removeItem(atPath: marks)
            case .zeroMarks: try change(marks) { $0 = Data(count: $0.count) }
            case .foreignMarks: try change(marks) { $0[8] ^= 1 }
            case .cutMarks: try change(marks) { $0 = $0.prefix(100) }
            case .missingMarksAndDatabase:
                for file in [marks, database] { try FileManager.default.removeItem(atPath: file) }
            case .missingSnapshots: try FileManager.default.removeItem(atPath: path + "/snapshots")
            case .claimedEpoch: try CommitMarkFile(JournalDirectory(path: path)).claim(Epoch(9))
            }
        }

        private func change(_ path: String, _ body: (inout Data) -> Void) throws {
            var data = try Data(contentsOf: URL(filePath: path))
            body(&data)
            try data.write(to: URL(filePath: path))
        }
    }

    @Test(arguments: Damage.allCases)
    func `A refused start changes no file`(damage: Damage) throws {
        let bench = try Self.crashed()
        let whole = try files(of: bench.path)
        try damage.apply(at: bench.path)
        let damaged = try files(of: bench.path)
        for _ in 0..<2 {
            let failure = #expect(throws: JournalFailure.self) { try bench.journal.open() }
            #expect(failure?.code == .damaged, "\(String(describing: failure))")
            #expect(try files(of: bench.path) == damaged)
        }
        // Readers change no file, either.
        _ = try? JournalReader(at: bench.path).verify()
        #expect(try files(of: bench.path) == damaged)
        let snapshots = bench.path + "/snapshots"
        #expect(FileManager.default.fileExists(atPath: snapshots) == (damage != .missingSnapshots))
        try FileManager.default.createDirectory(atPath: snapshots, withIntermediateDirectories: true)
        for (name, data) in whole { try data.write(to: URL(filePath: "\(bench.path)/\(name)")) }
        #expect(try bench.journal.open()?.last == JournalSequence(80))
        bench.journal.close()
    }

    @Test func `A start that is refused by the caller of open changes no file`() throws {
        let bench = try Self.crashed()
        let before = try files(of: bench.path)
        _ = try bench.journal.open()
        _ = try bench.dump()
        bench.journal.close()
        #expect(try files(of: bench.path) == before)
    }

    @Test func `A refused start of a later version's journal changes no file`() throws {
        let journal = try CounterJournal.with(batches: 20)
        let bench = try journal.bench.crashed()
        try bench.sql("INSERT INTO grdb_migrations VALUES ('later')")
        let before = try files(of: bench.path)
        let failure = #expect(throws: JournalFailure.self) { try bench.journal.open() }
        #expect(failure?.code == .newerFormat)
        #expect(try files(of: bench.path) == before)
    }

    @Test
    func `A refused start does not happen if a process ended between beginning the history and marking it`() throws {
        let journal = try CounterJournal.with(batches: 3)
        journal.bench.journal.close()
        try CommitMarkFile(JournalDirectory(path: journal.path)).begin(as: .none)
        #expect(try journal.bench.journal.open()?.last == JournalSequence(3))
        try journal.bench.journal.claim(.sample(2, at: 2))
        #expect(try JournalReader(at: journal.path).info().purpose == .journal)
        journal.bench.journal.close()
    }

    @Test func `A refused start does not happen if a process ended before it began the history`() throws {
        let whole = JournalBench(.full)
        #expect(try whole.journal.open() == nil)
        let opened = try whole.crashed()
        #expect(try opened.journal.open() == nil)
        try opened.journal.begin(.sample, from: .sample(0))
        opened.journal.close()
        for emptied in ["journal.sqlite", "marks"] {
            let bench = JournalBench(.full)
            try FileManager.default.createDirectory(atPath: bench.path, withIntermediateDirectories: true)
            try Data().write(to: URL(filePath: "\(bench.path)/\(emptied)"))
            #expect(try bench.journal.open() == nil)
            try bench.journal.begin(.sample, from: .sample(0))
            bench.journal.close()
            #expect(try bench.reopened()?.identity == .sample)
        }
    }
}
