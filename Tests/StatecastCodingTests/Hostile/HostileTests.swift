import Foundation
import StatecastCoding
import StatecastJSON
import Testing

/// Malicious inputs, and inputs that fuzzers found: no reader of them traps.
@Suite struct `Hostile input` {
    /// The values to which patches are applied, besides those in the inputs.
    static let bases: [Value] = [
        .null, 5, "text", .bytes([1]), [], [0, [:], [1, 2]], [:], ["a": [1, ["b": .null]], 1: [2]], .tagged(1, [:]),
    ]

    @Test func `Hostile input exists`() {
        #expect(CorpusFile.all(.decoder).count > 100)
        #expect(CorpusFile.all(.patch).count > 50)
        #expect(CorpusFile.all(.json).count > 50)
    }

    @Test(arguments: CorpusFile.all(.decoder))
    func `Hostile input in CBOR has the outcome in its name`(file: CorpusFile) {
        #expect(outcome { () throws(CodingFailure) in _ = try Value(decoding: file.bytes) } == file.outcome)
    }

    @Test(arguments: CorpusFile.all(.patch))
    func `Hostile input in a patch has the outcome in its name`(file: CorpusFile) {
        let input = ApplyInput(file.bytes)
        let outcome = outcome { () throws(CodingFailure) in
            var value = try Value(decoding: input.value)
            for patch in input.patches { try Patch(decoding: patch).apply(to: &value) }
        }
        #expect(outcome == file.outcome)
    }

    @Test(arguments: CorpusFile.all(.json)) func `Hostile input in JSON has the outcome in its name`(file: CorpusFile) {
        #expect(outcome { () throws(CodingFailure) in _ = try JSON.value(parsing: file.bytes) } == file.outcome)
    }

    @Test(arguments: CorpusFile.Kind.allCases.flatMap { CorpusFile.all($0) })
    func `Hostile input breaks no law, as any kind of input`(file: CorpusFile) throws {
        try Laws.checkDecoding(file.bytes)
        try Laws.checkJSON(file.bytes)
        try Laws.checkApplying(file.bytes)
        for base in Self.bases { try Laws.checkApplying(base.encoded + ApplyInput.separator + file.bytes) }
    }

    @Test(arguments: CorpusFile.all(.decoder).filter { $0.outcome == "accepted" && $0.bytes.count < 500 })
    func `Hostile input is refused if it is truncated anywhere`(file: CorpusFile) throws {
        for count in file.bytes.indices {
            let cut = Array(file.bytes.prefix(count))
            #expect(throws: CodingFailure.self, "cut at \(count)") { try Value(decoding: cut) }
            try Laws.checkDecoding(cut)
        }
    }

    private func outcome(_ body: () throws(CodingFailure) -> Void) -> String {
        do throws(CodingFailure) { try body() } catch { return error.code.description }
        return "accepted"
    }
}
