import StatecastSmartCopy
import Testing

/// As wide as a grown state: the copy of each field is one expression more for the type checker.
@SmartCopy
private struct Wide {
    var field00: Int = 1, field01: String = "a", field02: Double = 1.5, field03: Bool = true
    var field04: Int? = nil, field05: String? = nil, field06: [Int] = [], field07: [String: Int] = [:]
    var field08: Int = 1, field09: String = "a", field10: Double = 1.5, field11: Bool = true
    var field12: Int? = nil, field13: String? = nil, field14: [Int] = [], field15: [String: Int] = [:]
    var field16: Int = 1, field17: String = "a", field18: Double = 1.5, field19: Bool = true
    var field20: Int? = nil, field21: String? = nil, field22: [Int] = [], field23: [String: Int] = [:]
    var field24: Int = 1, field25: String = "a", field26: Double = 1.5, field27: Bool = true
    var field28: Int? = nil, field29: String? = nil, field30: [Int] = [], field31: [String: Int] = [:]
    var field32: Int = 1, field33: String = "a", field34: Double = 1.5, field35: Bool = true
    var field36: Int? = nil, field37: String? = nil, field38: [Int] = [], field39: [String: Int] = [:]
    var field40: Int = 1, field41: String = "a", field42: Double = 1.5, field43: Bool = true
    var field44: Int? = nil, field45: String? = nil, field46: [Int] = [], field47: [String: Int] = [:]
    var field48: Int = 1, field49: String = "a", field50: Double = 1.5, field51: Bool = true
    var field52: Int? = nil, field53: String? = nil, field54: [Int] = [], field55: [String: Int] = [:]
    var field56: Int = 1, field57: String = "a", field58: Double = 1.5, field59: Bool = true
    var field60: Int? = nil, field61: String? = nil, field62: [Int] = [], field63: [String: Int] = [:]
}

@Suite struct WideStructTests {
    @Test func `a struct with 64 fields compiles and is copied`() {
        let changed = Wide().copy(field00: 2, field04: 3, field63: ["k": 1])
        #expect(changed.field00 == 2)
        #expect(changed.field04 == 3)
        #expect(changed.field08 == 1)
        #expect(changed.field63 == ["k": 1])
    }
}
