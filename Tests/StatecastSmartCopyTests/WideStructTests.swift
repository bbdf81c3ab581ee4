import StatecastSmartCopy
import Testing

/// As wide as a grown state: the copy of each field is one expression more for the type checker.
@SmartCopy
private struct Wide {
    let field00: Int
    let field01: String
    let field02: Double
    let field03: Bool
    let field04: Int?
    let field05: String?
    let field06: [Int]
    let field07: [String: Int]
    let field08: Int
    let field09: String
    let field10: Double
    let field11: Bool
    let field12: Int?
    let field13: String?
    let field14: [Int]
    let field15: [String: Int]
    let field16: Int
    let field17: String
    let field18: Double
    let field19: Bool
    let field20: Int?
    let field21: String?
    let field22: [Int]
    let field23: [String: Int]
    let field24: Int
    let field25: String
    let field26: Double
    let field27: Bool
    let field28: Int?
    let field29: String?
    let field30: [Int]
    let field31: [String: Int]
    let field32: Int
    let field33: String
    let field34: Double
    let field35: Bool
    let field36: Int?
    let field37: String?
    let field38: [Int]
    let field39: [String: Int]
    let field40: Int
    let field41: String
    let field42: Double
    let field43: Bool
    let field44: Int?
    let field45: String?
    let field46: [Int]
    let field47: [String: Int]
    let field48: Int
    let field49: String
    let field50: Double
    let field51: Bool
    let field52: Int?
    let field53: String?
    let field54: [Int]
    let field55: [String: Int]
    let field56: Int
    let field57: String
    let field58: Double
    let field59: Bool
    let field60: Int?
    let field61: String?
    let field62: [Int]
    let field63: [String: Int]

    static let plain = Wide(
        field00: 1,
        field01: "a",
        field02: 1.5,
        field03: true,
        field04: nil,
        field05: nil,
        field06: [],
        field07: [:],
        field08: 1,
        field09: "a",
        field10: 1.5,
        field11: true,
        field12: nil,
        field13: nil,
        field14: [],
        field15: [:],
        field16: 1,
        field17: "a",
        field18: 1.5,
        field19: true,
        field20: nil,
        field21: nil,
        field22: [],
        field23: [:],
        field24: 1,
        field25: "a",
        field26: 1.5,
        field27: true,
        field28: nil,
        field29: nil,
        field30: [],
        field31: [:],
        field32: 1,
        field33: "a",
        field34: 1.5,
        field35: true,
        field36: nil,
        field37: nil,
        field38: [],
        field39: [:],
        field40: 1,
        field41: "a",
        field42: 1.5,
        field43: true,
        field44: nil,
        field45: nil,
        field46: [],
        field47: [:],
        field48: 1,
        field49: "a",
        field50: 1.5,
        field51: true,
        field52: nil,
        field53: nil,
        field54: [],
        field55: [:],
        field56: 1,
        field57: "a",
        field58: 1.5,
        field59: true,
        field60: nil,
        field61: nil,
        field62: [],
        field63: [:]
    )
}

@Suite struct WideStructTests {
    @Test func `a struct with 64 fields compiles and is copied`() {
        let changed = Wide.plain.copy(field00: 2, field04: 3, field63: ["k": 1])
        #expect(changed.field00 == 2)
        #expect(changed.field04 == 3)
        #expect(changed.field08 == 1)
        #expect(changed.field63 == ["k": 1])
    }
}
