import Foundation
import Testing

/// The stored inputs of the fuzzers (`scripts/fuzz`), each checked by the target that stored it.
@Suite struct `The corpus of the fuzzers` {
    private func inputs(_ target: String, here: String = #filePath) throws -> [(name: String, bytes: [UInt8])] {
        let repository = URL(filePath: here).appending(path: "../../../..").standardized
        let folder = repository.appending(path: "Fuzzing/Corpus/\(target)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        return try names.sorted().map { ($0, Array(try Data(contentsOf: folder.appending(path: $0)))) }
    }

    private func replay(_ target: String, _ law: ([UInt8]) throws(BrokenLaw) -> Void) throws {
        let inputs = try inputs(target)
        #expect(inputs.count > 100)
        for (name, bytes) in inputs {
            do throws(BrokenLaw) { try law(bytes) } catch { Issue.record("\(target)/\(name): \(error)") }
        }
    }

    @Test func `of decoding breaks no law`() throws {
        try replay("FuzzDecoder", Laws.checkDecoding)
    }

    @Test func `of applying breaks no law`() throws {
        try replay("FuzzApply", Laws.checkApplying)
    }

    @Test func `of JSON breaks no law`() throws {
        try replay("FuzzJSON", Laws.checkJSON)
    }
}
