import Foundation
import Testing

/// The stored inputs of the fuzzers (`scripts/fuzz`), each checked by the target that stored it.
@Suite struct `The corpus of the protocol's fuzzers` {
    private func replay(
        _ target: String,
        here: String = #filePath,
        _ law: ([UInt8]) throws(BrokenLaw) -> Void
    ) throws {
        let repository = URL(filePath: here).appending(path: "../../../..").standardized
        let folder = repository.appending(path: "Fuzzing/Corpus/\(target)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        #expect(names.count > 100)
        for name in names.sorted() {
            let bytes = Array(try Data(contentsOf: folder.appending(path: name)))
            do throws(BrokenLaw) { try law(bytes) } catch { Issue.record("\(target)/\(name): \(error)") }
        }
    }

    @Test func `of frames, messages and subscriptions breaks no law`() throws {
        try replay("FuzzFrame", WireLaws.check)
    }

    @Test func `of journals and session files breaks no law`() throws {
        try replay("FuzzRecord", RecordLaws.check)
    }

    @Test func `of replicas and senders breaks no law`() throws {
        try replay("FuzzPeer", PeerLaws.check)
    }

    @Test func `of stores breaks no law`() throws {
        try replay("FuzzStore", StoreLaws.check)
    }
}
