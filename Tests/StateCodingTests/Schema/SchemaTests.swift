import StateCoding
import Testing

@Suite struct `A schema` {
    @Test func `offers a plain example of a type`() {
        #expect(
            Schema.example(of: Sample.self)?.description == """
                {"a":0,"b":"","c":[],"d":{},"e":0.0,"f":{"x":0},"g":{"x":0},"h":"up","i":"","j":{"ready":{}}}
                """
        )
        #expect(Schema.example(of: [Int].self) == [])
        #expect(Schema.example(of: Tree.self) == ["children": []])
        #expect(Schema.example(of: List.self)?.description == #"{"value":0}"#)
        #expect(Schema.example(of: Point.self) == [0.0, 0.0])
    }

    @Test func `has no example where plain samples are refused`() {
        #expect(Schema.example(of: Priced.self) == nil)
        #expect(Schema.example(of: Only.self) == nil)
        #expect(Schema.example(of: MayBePriced.self) == [:])
        #expect(Schema.example(of: Offered.self) == ["price": 5])
    }

    @Test func `has a fingerprint that the names of types and the order of fields leave alone`() {
        #expect(Schema.fingerprint(of: First.self) == Schema.fingerprint(of: Reordered.self))
    }

    @Test func `has another fingerprint when a key or a kind changes, at any depth`() {
        let prints = [
            Schema.fingerprint(of: First.self), Schema.fingerprint(of: OtherKey.self),
            Schema.fingerprint(of: OtherKind.self),
            Schema.fingerprint(of: OtherRow.self), Schema.fingerprint(of: OptionalField.self),
            Schema.fingerprint(of: Tree.self), Schema.fingerprint(of: List.self), Schema.fingerprint(of: [First].self),
            Schema.fingerprint(of: [String: First].self), Schema.fingerprint(of: First?.self),
            Schema.fingerprint(of: Point.self),
        ]
        #expect(Set(prints).count == prints.count)
    }

    @Test func `has the first case of an enum as its example`() {
        #expect(Schema.example(of: Kind.self) == "red")
        #expect(Schema.example(of: Mode.self) == ["idle": [:]])
        #expect(Schema.example(of: Payload.self)?.description == #"{"text":{"_0":"","way":"up"}}"#)
        #expect(Schema.example(of: Expression.self)?.description == #"{"number":{"_0":0}}"#)
    }

    @Test func `sees each case of an enum, whatever their order`() {
        let prints = [
            fingerprint(Payload.self), fingerprint(OtherPayload.self), fingerprint(PayloadLess.self),
            fingerprint(RenamedPayload.self), fingerprint(Kind.self), fingerprint(MoreKinds.self),
            fingerprint(String.self),
            fingerprint(Expression.self), fingerprint(OtherExpression.self), fingerprint(Numbered.self),
        ]
        #expect(Set(prints).count == prints.count)
        #expect(fingerprint(Payload.self) == fingerprint(ReorderedPayload.self))
        #expect(fingerprint(Kind.self) == fingerprint(ListedKind.self))
    }

    @Test func `goes on behind an enum`() {
        #expect(fingerprint(Behind<Mode, Int>.self) != fingerprint(Behind<Mode, String>.self))
        #expect(fingerprint(Behind<Kind, Int>.self) != fingerprint(Behind<Kind, String>.self))
        #expect(fingerprint(Behind<Expression, Int>.self) != fingerprint(Behind<Expression, String>.self))
        #expect(fingerprint(Stamped<Int>.self) != fingerprint(Stamped<Double>.self))
        #expect(fingerprint(Behind<Offered, Int>.self) != fingerprint(Behind<Offered, String>.self))
        #expect(fingerprint(Behind<Listed<Int>, Int>.self) != fingerprint(Behind<Listed<Int>, String>.self))
    }

    @Test func `sees what hand-written coding asks for`() {
        #expect(fingerprint(Listed<Int>.self) != fingerprint(Listed<String>.self))
        #expect(fingerprint(Listed<Endless>.self) != fingerprint(Listed<String>.self))
        #expect(fingerprint(Nested<Int>.self) != fingerprint(Nested<String>.self))
        #expect(fingerprint(Wrapped<Int>.self) == fingerprint(Int.self))
        #expect(Schema.example(of: Listed<Int>.self) == [0])
        #expect(Schema.example(of: Endless.self) == ["children": []])
    }

    @Test func `is the same for what is written in the same way`() {
        #expect(fingerprint(Table<String, First>.self) == fingerprint([String: First].self))
        #expect(fingerprint(Table<Int, First>.self) != fingerprint([String: First].self))
        #expect(fingerprint(Set<String>.self) == fingerprint([String].self))
        #expect(fingerprint(Int8.self) == fingerprint(UInt64.self))
        #expect(fingerprint(Float.self) == fingerprint(Double.self))
        #expect(fingerprint([UInt8].self) != fingerprint([Int8].self))
    }

    @Test func `ends, however types hold each other`() {
        #expect(fingerprint(Ping.self) != fingerprint(Pong.self))
        #expect(fingerprint(PingPong.self) == fingerprint(PongPing.self))
    }

    @Test func `looks at a type once, however many fields have it`() {
        #expect(fingerprint(Fan12<Fan12<Fan12<Int>>>.self) != fingerprint(Fan12<Fan12<Fan12<String>>>.self))
        #expect(fingerprint(Fan<Fan<Tree>>.self) != fingerprint(Fan<Fan<[Tree]>>.self))
    }

    @Test func `has the same fingerprint in every build`() {
        #expect(Schema.fingerprint(of: First.self) == 7_891_882_144_563_448_332)
        #expect(Schema.fingerprint(of: Tree.self) == 18_217_932_945_765_103_416)
        #expect(fingerprint(Payload.self) == 4_457_916_813_639_028_783)
        #expect(fingerprint(Way.self) == 2_021_736_412_310_055_098)
        #expect(fingerprint(Ping.self) == 1_923_893_879_615_817_197)
    }

    private func fingerprint<T: Decodable>(_ type: T.Type) -> UInt64 { Schema.fingerprint(of: type) }
}

private struct Sub: Codable { var x: Int }
private enum Phase: Codable, SchemaExample {
    case ready, failed(String)
    static var schemaExample: Phase { .ready }
}
private struct Sample: Codable {
    var a: Int
    var b: String
    var c: [Sub]
    var d: [String: Sub]
    var e: Double?
    var f: Sub
    var g: Sub?
    var h: Way
    var i: [UInt8]
    var j: Phase
}
/// Everything within it is there twice.
private struct Fan<Part: Decodable>: Decodable { var left: [Part], right: [Part] }
private typealias Fan4<Part: Decodable> = Fan<Fan<Fan<Fan<Part>>>>
private typealias Fan12<Part: Decodable> = Fan4<Fan4<Fan4<Part>>>
private struct Tree: Codable { var children: [Tree] }
private final class List: Codable {
    var value = 0
    var next: List?
}
private struct Point: Codable {
    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        _ = (try container.decode(Double.self), try container.decode(Double.self))
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(0.0)
        try container.encode(0.0)
    }
}
private struct Price: Codable {
    struct TooLow: Error {}
    var price: Int

    enum CodingKeys: CodingKey { case price }
    init(price: Int) { self.price = price }
    init(from decoder: any Decoder) throws {
        price = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .price)
        guard price > 0 else { throw TooLow() }
    }
}
private struct Priced: Codable { var price: Price }
private struct MayBePriced: Codable { var price: Price? }
private struct Offered: Codable, SchemaExample {
    var price: Price
    static var schemaExample: Offered { Offered(price: Price(price: 5)) }

    init(price: Price) { self.price = price }
    init(from decoder: any Decoder) throws { price = try Price(from: decoder) }
    func encode(to encoder: any Encoder) throws { try price.encode(to: encoder) }
}

private struct First: Codable { var a: Int, b: [String: Inner] }
private struct Inner: Codable { var text: String }
private struct Reordered: Codable { var b: [String: Renamed], a: Int }
private struct Renamed: Codable { var text: String }
private struct OtherKey: Codable { var aa: Int, b: [String: Inner] }
private struct OtherKind: Codable { var a: String, b: [String: Inner] }
private struct OtherRow: Codable { var a: Int, b: [String: Int] }
private struct OptionalField: Codable { var a: Int?, b: [String: Inner] }
