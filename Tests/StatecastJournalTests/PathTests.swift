import Foundation
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import Testing

@testable import StatecastTesting

/// SQLite takes a path that begins with `file:` for a URI, of which it decodes `%20`, `?` and `#`.
@Suite(.timeLimit(.minutes(10))) struct `The path of a journal` {
    @Test(arguments: [
        "file:k", "file:k?mode=memory", "file:%6B#f", "file://localhost/k", ":memory:", "a%20b", "k?mode=memory#f",
    ])
    func `The path of a journal names its directory, whatever it begins with or contains`(name: String) async throws {
        let folder = NewPath()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        await #expect(processExitsWith: .success) { [name, path = folder.path as String] in
            // A relative path begins with its first name, and the working folder is the whole process's.
            #expect(chdir(path) == 0)
            let journal = try CounterJournal(at: name)
            try journal.append()
            let source = try JournalReader(at: name)
            #expect(try source.contents().identity == .sample)
            let begun = Timestamp(milliseconds: 1)
            let copies = ["backup", "restored", "salvaged"].map { "\(name)-\($0)" }
            _ = try source.backup(to: copies[0])
            _ = try source.restore(to: copies[1], begun: begun)
            journal.bench.journal.close()
            _ = try JournalSalvage.salvage(name, to: copies[2], store: nil, begun: begun)
            for path in [name] + copies {
                #expect(try JournalReader(at: path).contents().identity.store == JournalIdentity.sample.store)
                let files = try FileManager.default.contentsOfDirectory(atPath: path)
                #expect(files.contains("journal.sqlite") && files.contains("marks"), "\(path): \(files)")
            }
            let roots = Set(([name] + copies).compactMap { $0.split(separator: "/").first.map(String.init) })
            #expect(try Set(FileManager.default.contentsOfDirectory(atPath: ".")) == roots)
        }
    }
}
