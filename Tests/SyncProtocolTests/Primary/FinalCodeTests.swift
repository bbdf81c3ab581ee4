import StateCore
import SyncProtocol
import Testing

@Suite struct `What a policy may answer` {
    private func recorded(_ code: String, _ message: String = "no") -> Rejection? {
        var bench = PrimaryBench()
        bench.verdicts[1] = .rejected(Rejection(Rejection.Code(rawValue: code), message))
        bench.push(1...1)
        guard case .rejected(let rejection)? = bench.closeAndCommit().receipts()[1] else { return nil }
        return rejection
    }

    @Test(arguments: [
        "refused", "swallowed", "unknown-action", "over-quota", "e404", String(repeating: "x", count: 64),
    ])
    func `is any word of lower-case letters, digits and hyphens`(code: String) {
        #expect(recorded(code) == Rejection(Rejection.Code(rawValue: code), "no"))
    }

    @Test(arguments: ["overloaded", "busy", "outcome-unknown", "not-sent", "unknown-session", "malformed", "stopped"])
    func `is not what would make the sender do something else than to take it as the outcome`(code: String) {
        #expect(recorded(code) == Rejection(.refused, "\(code): no"))
    }

    @Test(arguments: ["", "Over Quota", "over_quota", "\u{E9}", "a\0b", String(repeating: "x", count: 65)])
    func `is nothing that is no such word`(code: String) {
        #expect(recorded(code) == Rejection(.refused, "\(code): no"))
    }

    @Test func `is cut where it is long, its code included`() {
        let rejection = recorded("busy", String(repeating: "n", count: 256))
        #expect(rejection?.message == "busy: " + String(repeating: "n", count: 247) + "...")
    }
}
