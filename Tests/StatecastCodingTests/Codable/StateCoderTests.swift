import StatecastCoding
import StatecastJSON
import Testing

@Suite struct `The coder` {
    private func roundTrip<T: Codable & Equatable>(
        _ value: T,
        _ json: String,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let encoder = StateEncoder()
        #expect(try JSON.text(of: encoder.value(of: value)) == json, sourceLocation: location)
        #expect(try StateDecoder().decode(T.self, from: encoder.encode(value)) == value, sourceLocation: location)
    }

    private func failure<T: Decodable>(_ type: T.Type, _ value: Value) -> String? {
        do throws(CodingFailure) { _ = try StateDecoder(acceptsJSONForms: true).decode(type, from: value) } catch {
            return error.description
        }
        return nil
    }

    @Test func `plain types decode to equal values`() throws {
        try roundTrip(
            Row(title: "a", load: 1.5, notes: ["x"], inner: ["k": 1]),
            #"{"load":1.5,"inner":{"k":1},"notes":["x"],"title":"a"}"#
        )
        try roundTrip([Int8.min, 0, .max], "[-128,0,127]")
        try roundTrip([UInt64.max], "[18446744073709551615]")
        try roundTrip([Int64.min, .max], "[-9223372036854775808,9223372036854775807]")
        try roundTrip([Float(0.1), 1], "[0.10000000149011612,1.0]")
        try roundTrip(World(), try StateEncoder().value(of: World()).description)
    }

    @Test func `enums with payloads keep their form`() throws {
        try roundTrip([Mode.idle, .ended(2)], #"[{"idle":{}},{"ended":{"_0":2}}]"#)
        try roundTrip(
            Mode.live(since: 1, row: Row()),
            #"{"live":{"row":{"load":0.0,"inner":{},"notes":[],"title":""},"since":1}}"#
        )
    }

    @Test func `dictionaries with keys of any type are maps, in order`() throws {
        try roundTrip(["bb": 1, "c": 2, "a": 3], #"{"a":3,"c":2,"bb":1}"#)
        try roundTrip([10: "x", -1: "y", 2: "z"], #"{"2":"z","10":"x","-1":"y"}"#)
        try roundTrip([Kind.red: 1, .blue: 2], #"{"red":1,"blue":2}"#)
        try roundTrip([Pair(first: 1, second: "a").key: true], #"{"oWJpZAE=":true}"#)
        #expect(try StateEncoder().value(of: [2: "a"]) == [2: "a"])
    }

    @Test func `The coder sets are sorted, so that equal ones have equal bytes`() throws {
        try roundTrip(Set([300, 2, 1, 25]), "[1,2,25,300]")
        try roundTrip(Set(["b", "aa", "a"]), #"["a","b","aa"]"#)
    }

    @Test func `two keys or elements with one encoding are refused`() {
        #expect(throws: CodingFailure.self) { try StateEncoder().encode([Blind(id: 1): 1, Blind(id: 2): 2]) }
        #expect(throws: CodingFailure.self) { try StateEncoder().encode(Set([Blind(id: 1), Blind(id: 2)])) }
    }

    @Test func `optionals distinguish absent and nil`() throws {
        try roundTrip([1, nil] as [Int?], "[1,null]")
        try roundTrip(["a": nil, "b": 1] as [String: Int?], #"{"a":null,"b":1}"#)
        for maybe: Int?? in [.none, .some(nil), 4] {
            var world = World()
            world.maybe = maybe
            let value = try StateEncoder().value(of: world)
            #expect((value["maybe"] == nil) == (maybe == .none))
            #expect(try StateDecoder().decode(World.self, from: value).maybe == maybe)
        }
    }

    @Test func `a present value that is encoded as null is refused where null is an absent value`() throws {
        func check<T: Encodable>(_ old: T, _ new: T, _ path: [String]) {
            let encoding = #expect(throws: CodingFailure.self) { try StateEncoder().encode(new) }
            #expect(encoding?.code == .unencodable && encoding?.path == path)
            let difference = #expect(throws: CodingFailure.self) { try Differ.patch(from: old, to: new) }
            #expect(difference?.message == encoding?.message && difference?.path == path)
        }
        check([1, .none] as [Int??], [1, .some(nil)], ["1"])
        check([1, 2] as [Int??], [1, .some(nil)], ["1"])
        check(["a": 1] as [String: Int???], ["a": 1, "b": .some(nil)], ["b"])
        check([.some(Newtype(content: 1))] as [Newtype<Int?>?], [Newtype(content: nil)], ["0"])
        check(Newtype<Int??>(content: 1), Newtype(content: .some(nil)), [])
    }

    @Test func `bytes are a byte string, and are read from other forms too`() throws {
        #expect(try StateEncoder().value(of: [UInt8](1...3)) == .bytes([1, 2, 3]))
        #expect(try StateEncoder().value(of: [Int]()) == [])
        for form: Value in [.bytes([1, 2, 3]), [1, 2, 3], "AQID", .tagged(64, .bytes([1, 2, 3]))] {
            #expect(try StateDecoder(acceptsJSONForms: true).decode([UInt8].self, from: form) == [1, 2, 3])
        }
        #expect(failure([UInt8].self, [1, 256]) == "1: expected an integer that fits UInt8, got the integer 256")
        #expect(failure([UInt8].self, "AQ") == #"expected bytes (or base64 text), got text "AQ""#)
    }

    @Test func `numbers are converted where that is exact`() throws {
        let decoder = StateDecoder(acceptsJSONForms: true)
        #expect(try decoder.decode(Double.self, from: 3) == 3)
        #expect(try decoder.decode(Double.self, from: -3) == -3)
        #expect(try decoder.decode(Int.self, from: 3.0) == 3)
        #expect(try decoder.decode(Float.self, from: 0.1) == 0.1)
        #expect(try decoder.decode(Double.self, from: "Infinity") == .infinity)
        #expect(failure(Int.self, 3.5) == "expected an integer that fits Int, got the number 3.5")
        #expect(failure(Int8.self, 128) == "expected an integer that fits Int8, got the integer 128")
        #expect(failure(UInt.self, -1) == "expected an integer that fits UInt, got the integer -1")
        #expect(failure(Double.self, .unsigned(1 << 53 + 1)) != nil)
        #expect(failure(Float.self, 1e300) != nil)
    }

    @Test func `a state's decoder accepts the encoded form alone`() {
        func message<T: Decodable>(_ type: T.Type, _ value: Value) -> String? {
            do throws(CodingFailure) { _ = try StateDecoder().decode(type, from: value) } catch { return error.message }
            return nil
        }
        let advice = ": other forms, such as those of JSON, are accepted in the payloads of actions only"
        #expect(message(Int.self, 1.0) == "expected Int as it is encoded, got the number 1.0" + advice)
        #expect(message(Double.self, "NaN") == #"expected Double as it is encoded, got text "NaN""# + advice)
        #expect(message(Float.self, 0.1) != nil && message(Float.self, 0.5) == nil)
        // Integers are floats where that is exact.
        #expect(message(Double.self, 3) == nil && message(Double.self, -3) == nil)
        #expect(message(Float.self, 16_777_216) == nil && message(Float.self, 16_777_217) != nil)
        #expect(message(Float.self, -16_777_216) == nil && message(Float.self, -16_777_217) != nil)
        // Tags that a type does not write are ignored.
        #expect(message(Int.self, .tagged(99, 1)) == nil && message(Int.self, .tagged(99, 1.0)) != nil)
    }

    @Test func `failures name the field`() {
        #expect(failure(World.self, ["rows": ["a": ["title": 5]]]) == "missing the key \"name\"")
        #expect(failure([String: Row].self, ["a": ["title": 5]]) == "a.title: expected a text, got the integer 5")
        #expect(failure([String: Row].self, ["a": ["title": "t"]]) == "a: missing the key \"load\"")
        #expect(
            failure([Step].self, [["step": 1], ["step": "abc"]]) == #"1.step: expected an integer, got text "abc""#
        )
        #expect(failure([Step].self, ["x"]) == #"0: expected a map, got text "x""#)
        #expect(failure([Kind].self, ["red", "pink"])?.hasPrefix("1: ") == true)
        #expect(failure([Pair].self, [[1]]) == "0.1: expected another element, but the array has 1")
        #expect(failure(Step.self, ["step": .null]) == "step: expected an integer, got null")
    }

    @Test func `the failure of an enum that lists its cases names them`() {
        #expect(failure([String: [Way]].self, ["ways": ["up", "left"]])?.hasPrefix("ways.1: ") == true)
        #expect(failure([Way].self, ["left"])?.hasSuffix(": expected one of up, down") == true)
        #expect(failure([Level].self, [7])?.hasSuffix(": expected one of 1, 2") == true)
        #expect(failure([Many].self, [70])?.hasSuffix(", 14, 15, …") == true)
        #expect(failure([Unlisted].self, ["left"])?.contains("expected one of") == false)
    }

    @Test func `codes distinguish the kinds of failure`() {
        func code<T: Decodable>(_ type: T.Type, _ value: Value) -> CodingFailure.Code? {
            do throws(CodingFailure) { _ = try StateDecoder(acceptsJSONForms: true).decode(type, from: value) } catch {
                return error.code
            }
            return nil
        }
        #expect(code(Step.self, [:]) == .missingKey)
        #expect(code(Step.self, ["step": .null]) == .missingValue)
        #expect(code(Step.self, ["step": "x"]) == .typeMismatch)
        #expect(code(Step.self, ["step": 1e30]) == .outOfRange)
        #expect(code([Kind].self, ["pink"]) == .refusedByType)
    }

    @Test func `every kind of container decodes to equal values`() throws {
        try roundTrip(Containers(a: 1, b: ["x", "y"], c: 2), #"{"own":2,"list":[["x","y"],null],"super":{"a":1}}"#)
    }

    @Test func `nesting of n levels is encoded, of n + 1 refused`() throws {
        let limits = CodingLimits(maxDepth: 5)
        func nested(_ levels: Int) -> Chain { levels == 1 ? Chain(next: []) : Chain(next: [nested(levels - 1)]) }
        // Each link is a map and an array.
        let encoder = StateEncoder(limits: CodingLimits(maxDepth: 6))
        let bytes = try encoder.encode(nested(3))
        #expect(try StateDecoder(limits: CodingLimits(maxDepth: 6)).decode(Chain.self, from: bytes).next.count == 1)
        let failure = #expect(throws: CodingFailure.self) { try StateEncoder(limits: limits).encode(nested(3)) }
        #expect(failure?.code == .tooDeep)
        #expect(throws: CodingFailure.self) { try StateDecoder(limits: limits).decode(Chain.self, from: bytes) }
    }

    @Test func `a type that encodes nothing is an empty map, wherever it is`() throws {
        let value = Silent.Holder(plain: Silent(), list: [Silent()], named: ["a": Silent()], optional: Silent())
        let tree = try StateEncoder().value(of: value)
        let expected: Value = ["plain": [:], "list": [[:]], "named": ["a": [:]], "optional": [:], "super": [:]]
        #expect(tree == expected)
        #expect(try StateDecoder().decode(Silent.Holder.self, from: tree) == value)
        #expect(try StateEncoder().value(of: Silent()) == [:])

        // A value that encodes nothing changes to one that encodes fields, and back.
        let (empty, full) = (["x": Silent()], ["x": Silent(text: "a")])
        for (old, new) in [(empty, full), (full, empty), (empty, [:]), ([:], empty)] {
            try checkLaws(from: old, to: new)
        }
        #expect(try Differ.patch(from: empty, to: empty).isEmpty)
    }

    @Test func `a type that encodes too much is refused`() {
        #expect(throws: CodingFailure.self) { try StateEncoder().encode(Misfit(kind: 1)) }
        #expect(throws: CodingFailure.self) { try StateEncoder().encode(Misfit(kind: 2)) }
    }
}

private struct Step: Codable, Equatable { var step: Int }
private struct Chain: Codable { var next: [Chain] }
private struct Blind: Encodable, Hashable {
    var id: Int
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(0)
    }
}
private struct PairKey: Codable, Hashable { var id: Int }
extension Pair { fileprivate var key: PairKey { PairKey(id: first) } }

/// Encodes nothing, unless it has a text.
private struct Silent: Codable, Equatable {
    struct Holder: Codable, Equatable {
        enum Key: CodingKey { case plain, list, named, optional }

        var plain: Silent
        var list: [Silent]
        var named: [String: Silent]
        var optional: Silent?

        init(plain: Silent, list: [Silent], named: [String: Silent], optional: Silent?) {
            (self.plain, self.list, self.named, self.optional) = (plain, list, named, optional)
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            plain = try container.decode(Silent.self, forKey: .plain)
            list = try container.decode([Silent].self, forKey: .list)
            named = try container.decode([String: Silent].self, forKey: .named)
            optional = try container.decodeIfPresent(Silent.self, forKey: .optional)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(plain, forKey: .plain)
            try container.encode(list, forKey: .list)
            try container.encode(named, forKey: .named)
            try container.encodeIfPresent(optional, forKey: .optional)
            _ = container.superEncoder()
        }
    }

    enum Key: CodingKey { case text }

    var text: String?

    init(text: String? = nil) { self.text = text }

    init(from decoder: any Decoder) throws {
        text = try decoder.container(keyedBy: Key.self).decodeIfPresent(String.self, forKey: .text)
    }

    func encode(to encoder: any Encoder) throws {
        guard let text else { return }
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(text, forKey: .text)
    }
}

private struct Misfit: Encodable {
    var kind: Int
    func encode(to encoder: any Encoder) throws {
        switch kind {
        case 1:
            _ = encoder.unkeyedContainer()
            _ = encoder.container(keyedBy: Containers.Keys.self)
        default:
            var container = encoder.singleValueContainer()
            try container.encode(1)
            try container.encode(2)
        }
    }
}

private struct Containers: Codable, Equatable {
    var a: Int
    var b: [String]
    var c: Int

    enum Keys: String, CodingKey { case own, list, a }

    init(a: Int, b: [String], c: Int) {
        self.a = a
        self.b = b
        self.c = c
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        c = try container.decode(Int.self, forKey: .own)
        var outer = try container.nestedUnkeyedContainer(forKey: .list)
        var inner = try outer.nestedUnkeyedContainer()
        b = []
        while !inner.isAtEnd { b.append(try inner.decode(String.self)) }
        guard try outer.decodeNil(), outer.isAtEnd else { throw CodingFailure(.malformed, "expected null at the end") }
        a = try container.superDecoder().container(keyedBy: Keys.self).decode(Int.self, forKey: .a)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        var outer = container.nestedUnkeyedContainer(forKey: .list)
        var inner = outer.nestedUnkeyedContainer()
        for text in b { try inner.encode(text) }
        try outer.encodeNil()
        try container.encode(c, forKey: .own)
        var base = container.superEncoder().container(keyedBy: Keys.self)
        try base.encode(a, forKey: .a)
    }
}

private enum Way: String, Codable, CaseIterable { case up, down }
private enum Unlisted: String, Codable { case up, down }
private enum Level: Int, Codable, CaseIterable { case low = 1, high }
private enum Many: Int, Codable, CaseIterable { case a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q }
