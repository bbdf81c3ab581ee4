import StatecastCoding
import StatecastCore
import StatecastProtocol
import Testing

@Suite struct `The protocol's document: codes` {
    private static let document = ProtocolDocument.shared
    /// Code, kind, meaning.
    private static var rows: [[String]] { document.tables(in: "12 Codes").first ?? [] }
    /// Code and whether it is final, of each constant in the source.
    private static var constants: [(code: String, isFinal: Bool)] {
        ["Sources/StatecastCore/Actions/Rejection.swift", "Sources/StatecastProtocol/Rejections.swift"].flatMap {
            path in
            ProtocolDocument.file(path)
                .matches(of: #/public static let \w+ = Self\(rawValue: "(?<code>[^"]+)"\)/#)
                .map { (String($0.code), Rejection.Code(rawValue: String($0.code)).isFinal) }
        }
    }

    @Test func `The protocol's document: codes are complete, and there are no others`() {
        #expect(Self.rows.map { $0[0] }.sorted() == Self.constants.map(\.code).sorted())
        #expect(Self.constants.map(\.code).contains(Rejection.Code.unknownAction.rawValue))
    }

    @Test func `The protocol's document: codes are final or transient as in the code`() {
        for row in Self.rows {
            #expect((row[1] == "transient") == Rejection.Code(rawValue: row[0]).isTransient, "\(row[0])")
            #expect((row[1] == "final") == Self.constants.contains { $0.code == row[0] && $0.isFinal }, "\(row[0])")
        }
        #expect(Set(Self.rows.map { $0[1] }) == ["final", "transient", "request", "local"])
    }

    @Test func `The protocol's document: codes have a metrics label each, and all others share one`() {
        for code in Self.constants.map(\.code) { #expect(Rejection.Code(rawValue: code).group == code) }
        for code in ["over-quota", "", "Refused", "malformed-7"] {
            #expect(Rejection.Code(rawValue: code).group == "policy")
        }
    }

    @Test func `The codes in the examples of the protocol's document have the kind of their frame`() throws {
        let kinds = Dictionary(Self.rows.map { ($0[0], $0[1]) }) { first, _ in first }
        for example in Self.document.blocks("frame") {
            switch try AnyFrame(decoding: example.bytes[...]) {
            case .published(.refusal(let refusal)):
                let kind = refusal.retryAfter == nil ? "request" : "transient"
                #expect(kinds[refusal.reason.code.rawValue] == kind, "\(example.name)")
            case .published(.receipts(let receipts)):
                for case .rejected(let rejection) in receipts.outcomes.list {
                    #expect(kinds[rejection.code.rawValue] == "final", "\(example.name)")
                }
            default: break
            }
        }
    }
}

@Suite struct `The protocol's document: limits` {
    /// Limit, value, whose, meaning.
    private static let tables = ProtocolDocument.shared.tables(in: "13 Limits")

    @Test func `The protocol's document: limits are complete with their defaults, and there are no others`() throws {
        let documented = try #require(Self.tables.first).map { "\($0[0]) \($0[1])" }
        let defaults = Mirror(reflecting: Limits()).children.map { child in
            let value = (child.value as? Duration).map { "\($0.milliseconds) ms" } ?? "\(child.value)"
            return "\(child.label ?? "") \(value)"
        }
        #expect(documented.sorted() == defaults.sorted() && !defaults.isEmpty)
    }

    @Test func `The protocol's document: limits that are fixed equal those of the code`() throws {
        let documented = try #require(Self.tables.last).map { "\($0[0]) \($0[1])" }
        #expect(
            documented == [
                "maxTopicBytes \(Limits.maxTopicBytes)",
                "maxSubscriptionBytes \(Limits.maxSubscriptionBytes)",
                "maxStoreNameBytes \(StoreName.maxBytes)",
                "maxActionNameBytes \(Limits.maxActionNameBytes)",
                "maxDepth \(CodingLimits.standard.maxDepth)",
                "maxCombiningMarks \(CodingLimits.maxCombiningMarks)",
                "maxSnapshotChunks \(Limits.maxSnapshotChunks)",
                "maxReceiptRuns \(Limits.maxReceiptRuns)",
            ]
        )
    }

    @Test func `The limits that the text of the protocol's document names exist`() throws {
        let known = Set(Self.tables.joined().map { $0[0] })
        let text = ProtocolDocument.file("docs/PROTOCOL.md")
        let named = text.matches(of: #/`((?:max|min)[A-Z][A-Za-z]+|[a-z][A-Za-z]+(?:Interval|Retention))`/#).map {
            String($0.1)
        }
        #expect(Set(named).isSubset(of: known) && named.count > known.count)
    }
}
