import Foundation
import Testing

/// The stored inputs of the fuzzer `FuzzAccess` (`scripts/fuzz`).
@Suite struct `The corpus of the fuzzer of access lists, key files and authentication` {
    @Test func `breaks no law`() throws {
        let repository = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let folder = repository.appending(path: "Fuzzing/Corpus/FuzzAccess")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        #expect(names.count > 100)
        for name in names.sorted() {
            let bytes = Array(try Data(contentsOf: folder.appending(path: name)))
            do throws(BrokenLaw) { try AccessLaws.check(bytes) } catch { Issue.record("\(name): \(error)") }
        }
    }
}
