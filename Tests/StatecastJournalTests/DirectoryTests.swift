import Foundation
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import Testing

@testable import StatecastTesting

@Suite struct `The directory of a journal` {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    @Test func `The directory of a journal has a name`() throws {
        let journal = try CounterJournal.with(batches: 3)
        let target = NewPath()
        for failure in [
            #expect(throws: JournalFailure.self) { try SQLiteJournal(at: "").open() },
            #expect(throws: JournalFailure.self) { try JournalReader(at: "") },
            #expect(throws: JournalFailure.self) { try JournalReader.info(at: "") },
            #expect(throws: JournalFailure.self) { try JournalReader(at: journal.path).backup(to: "") },
            #expect(throws: JournalFailure.self) {
                try JournalSalvage.salvage("", to: target.path, store: nil, begun: Self.now)
            },
        ] {
            #expect(failure?.message == "the name of the journal's directory is empty: name a directory")
        }
    }

    @Test func `The directory of a journal is accessible to its user only, also if it existed before`() throws {
        let place = NewPath()
        try FileManager.default.createDirectory(
            atPath: place.path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        let bench = JournalBench(.full, at: place.path)
        try bench.begin()
        try bench.journal.append([.sample(1)])
        let names = try FileManager.default.subpathsOfDirectory(atPath: place.path).filter { $0 != "snapshots" }
        #expect(Set(names).isSuperset(of: ["journal.sqlite", "journal.sqlite-wal", "marks", "lock"]))
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(place.path)/\(name)")
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        bench.journal.close()
    }

    @Test(arguments: ["", "/below", "/far/below"])
    func `The directory of a journal cannot be a file, or lie below one`(suffix: String) throws {
        let file = NewPath()
        try Data("text".utf8).write(to: URL(filePath: file.path))
        let path = file.path + suffix
        let journal = try CounterJournal.with(batches: 3)
        for failure in [
            #expect(throws: JournalFailure.self) { try SQLiteJournal(at: path).open() },
            #expect(throws: JournalFailure.self) { try JournalReader(at: journal.path).backup(to: path) },
        ] {
            let message = failure?.message ?? ""
            #expect(message.contains("below one: name another directory") || message.contains("and is not empty: name"))
            #expect(message.hasPrefix("cannot create the journal's directory \(path): ") || message.hasPrefix(path))
        }
        #expect(try Data(contentsOf: URL(filePath: file.path)) == Data("text".utf8))
    }
}
