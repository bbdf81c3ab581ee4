import StatecastCoding
import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `The message of a rejection` {
    private func cut(_ message: String, to maxBytes: Int) -> String {
        Rejection(.refused, message).truncated(to: maxBytes).message
    }

    @Test func `The message of a rejection is complete at the limit and truncated beyond it`() {
        #expect(cut(String(repeating: "n", count: 256), to: 256) == String(repeating: "n", count: 256))
        #expect(cut(String(repeating: "n", count: 257), to: 256) == String(repeating: "n", count: 253) + "...")
        #expect(cut("", to: 0) == "")
    }

    @Test(arguments: [(-1, ""), (0, ""), (1, "."), (2, ".."), (3, "..."), (4, "n...")])
    func `The message of a rejection is truncated to any limit`(maxBytes: Int, expected: String) {
        #expect(cut("nnnnn", to: maxBytes) == expected)
    }

    @Test(arguments: ["\u{E9}", "\u{20AC}", "\u{1F1E6}"])
    func `The message of a rejection is truncated between two scalars, at the last possible place`(scalar: String) {
        let size = scalar.utf8.count
        for maxBytes in 16...32 {
            let kept = (maxBytes - 3) / size
            #expect(
                cut(String(repeating: scalar, count: 60), to: maxBytes) == String(repeating: scalar, count: kept)
                    + "..."
            )
        }
    }

    @Test func `The message of a rejection is truncated within a grapheme cluster of any length`() {
        let flags = String(repeating: "\u{1F1E6}", count: 60_000)
        #expect(cut(flags, to: 256).utf8.elementsEqual(Array(flags.utf8.prefix(252)) + Array("...".utf8)))
        let accents = "e" + String(repeating: "\u{301}", count: 60_000)
        #expect(cut(accents, to: 256).utf8.elementsEqual(Array(accents.utf8.prefix(253)) + Array("...".utf8)))
    }

    /// A reader of texts would ignore the receipt, and a journal could not be recovered.
    @Test func `The message of a rejection has no more combining marks in a row than readers accept`() throws {
        let most = "e" + String(repeating: "\u{301}", count: CodingLimits.maxCombiningMarks)
        for (message, isKept) in [(most, true), (most + "\u{301}", false)] {
            for code in ["refused", "busy"] {
                let final = Rejection(Rejection.Code(rawValue: code), message).final(maxMessageBytes: 1000)
                #expect(final.message.contains(message) == isKept)
                #expect(try Value(decoding: Value.text(final.message).encoded) == .text(final.message))
                #expect(final.message.contains("combining marks") == !isKept)
            }
        }
    }

    @Test func `The message of a rejection is read only up to its limit`() {
        let endless = EndlessText(maxReadable: 256)
        #expect(endless.text(truncatedTo: 256) == String(repeating: "n", count: 253) + "...")
    }

    @Test(arguments: [250, 254, 255, 256, 300, 100_000])
    func `The message of a rejection is truncated after a code that precedes it`(count: Int) {
        for scalar in ["n", "\u{E9}", "\u{20AC}", "\u{1F1E6}"] {
            for code in [
                "", "A", "busy", "Over Quota", String(repeating: "x", count: 65), String(repeating: "x", count: 300),
            ] {
                let message = String(repeating: scalar, count: count)
                let final = Rejection(Rejection.Code(rawValue: code), message).final(maxMessageBytes: 256)
                #expect(final == Rejection(.refused, cut("\(code): \(message)", to: 256)))
            }
        }
    }
}

/// Endless text that traps when it is read beyond a limit.
private struct EndlessText: BidirectionalCollection {
    let maxReadable: Int

    var startIndex: Int { 0 }
    var endIndex: Int { .max }

    func index(after index: Int) -> Int {
        precondition(index < maxReadable, "walked to byte \(index) of a text of which \(maxReadable) are kept")
        return index + 1
    }

    func index(before index: Int) -> Int { index - 1 }

    subscript(index: Int) -> UInt8 {
        precondition(index < maxReadable, "read byte \(index) of a text of which \(maxReadable) are kept")
        return UInt8(ascii: "n")
    }
}

@Suite struct `The code of a middleware's rejection` {
    private func recorded(_ code: String, _ message: String = "no") -> Rejection? {
        var bench = PrimaryBench()
        bench.verdicts[1] = .rejected(code: code, message: message)
        bench.push(1...1)
        guard case .rejected(let rejection)? = bench.turnAndCommit().receipts()[1] else { return nil }
        return rejection
    }

    @Test(arguments: [
        "refused", "swallowed", "unknown-action", "over-quota", "e404", String(repeating: "x", count: 64),
    ])
    func `A middleware's rejection code may be any word of lower-case letters, digits and hyphens`(code: String) {
        #expect(recorded(code) == Rejection(Rejection.Code(rawValue: code), "no"))
    }

    @Test(arguments: ["overloaded", "busy", "outcome-unknown", "not-sent", "unknown-session", "malformed", "stopped"])
    func `A middleware's code that a sender would not accept as a final outcome is replaced`(code: String) {
        #expect(recorded(code) == Rejection(.refused, "\(code): no"))
    }

    @Test(arguments: ["", "Over Quota", "over_quota", "\u{E9}", "a\0b", String(repeating: "x", count: 65)])
    func `The code of a middleware's rejection is replaced if it is malformed`(code: String) {
        #expect(recorded(code) == Rejection(.refused, "\(code): no"))
    }

    @Test func `a long message of a rejection is truncated, its code included`() {
        let rejection = recorded("busy", String(repeating: "n", count: 256))
        #expect(rejection?.message == "busy: " + String(repeating: "n", count: 247) + "...")
    }
}
