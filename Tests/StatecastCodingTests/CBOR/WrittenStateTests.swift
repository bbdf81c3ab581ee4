import Foundation
import StatecastCoding
import StatecastJSON
import Testing

/// The output of StateEncoder as fixtures, which another implementation reads: `scripts/make-cbor-fixtures check` runs
/// Python's cbor2.
@Suite struct `States as fixtures for another implementation` {
    private struct Named {
        var name: String
        var value: Value
        var encoded: [UInt8]

        init(_ name: String, _ state: some Encodable) throws {
            self.name = name
            value = try StateEncoder().value(of: state)
            encoded = try StateEncoder().encode(state)
        }

        var line: String {
            let hex = encoded.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return #"    {"name":"\#(name)","hex":"\#(hex)","json":\#(JSON.text(of: value))}"#
        }
    }

    private func states() throws -> [Named] {
        var states: [Named] = []
        for seed in UInt64(0)..<40 {
            var (generator, world) = (SeededGenerator(seed: seed), World())
            for _ in 0..<seed { generator.change(&world) }
            states.append(try Named("world \(seed)", world))
        }
        states.append(try Named("integers", [Int64.min, -25, -24, -1, 0, 23, 24, 255, 256, 65536, .max]))
        states.append(try Named("large", [UInt64.max, 1 << 32]))
        states.append(try Named("floats", SeededGenerator.numbers + [.pi, 5.5, 1e-7, 16_777_217]))
        states.append(try Named("keys", [-1: "a", 10: "b", 100: "c", 24: "d", -500: "e"]))
        states.append(try Named("keys of bytes", [[UInt8]([1, 2]): 1, [3]: 2, []: 3]))
        states.append(try Named("keys of floats", [1.5: 1, -0.0: 2, .infinity: 3, 0.1: 4]))
        states.append(
            try Named("texts", Set(SeededGenerator.texts + ["\u{4F60}\u{597D}", "\u{645}\u{631}", "\0\"\\"]))
        )
        let leaves = [Laws.Tree(leaf: 1)]
        let tree = Laws.Tree(leaf: .some(nil), branches: leaves, named: ["\u{E9}": Laws.Tree()])
        states.append(try Named("tree", tree))
        states.append(try Named("numbers", Laws.Numbers(tiny: -128, byte: 255, large: .max, float: 0.1, double: 0.1)))
        return states
    }

    /// To accept an intended change: run with `STATECAST_WRITE_FIXTURES=1`, then check the result with cbor2.
    @Test func `States as fixtures for another implementation are written as before`() throws {
        let text = "{\"states\": [\n\(try states().map(\.line).joined(separator: ",\n"))\n]}\n"
        let file = fixtureFile("ours.json")
        if ProcessInfo.processInfo.environment["STATECAST_WRITE_FIXTURES"] != nil {
            try Data(text.utf8).write(to: file)
        }
        let kept = try String(contentsOf: file, encoding: .utf8)
        let differing = zip(kept.split(separator: "\n"), text.split(separator: "\n")).first { $0 != $1 }
        #expect(kept == text, "first difference: \(differing.map { "\($0)\n\($1)" } ?? "one has more lines")")
    }
}
