import Foundation
import StatecastCoding
import Testing

@Suite struct `An example of a type` {
    @Test func `An example of a type has default values`() {
        #expect(
            Value(exampleOf: Sample.self)?.description == """
                {"a":0,"b":"","c":[],"d":{},"e":0.0,"f":{"x":0},"g":{"x":0},"h":"up","i":""}
                """
        )
        #expect(Value(exampleOf: [Int].self) == [])
        #expect(Value(exampleOf: Tree.self) == ["children": []])
        #expect(Value(exampleOf: List.self)?.description == #"{"value":0}"#)
        #expect(Value(exampleOf: Point.self) == [0.0, 0.0])
        #expect(Value(exampleOf: Newtype<Int>.self) == 0)
        #expect(Value(exampleOf: Nested<Int>.self) == ["outer": [["inner": 0]]])
        #expect(Value(exampleOf: Listed<Int>.self) == [])
        #expect(Value(exampleOf: Endless.self) == ["children": []])
    }

    @Test
    func `An example of a type is the first case of an enum that lists its cases, or whose raw value is a default`() {
        #expect(Value(exampleOf: Way.self) == "up")
        #expect(Value(exampleOf: Numbered.self) == 0)
        #expect(Value(exampleOf: Kind.self) == nil)
    }

    @Test func `An example of a type is the first case of an enum with payloads whose keys list themselves`() {
        #expect(Value(exampleOf: Shape.self) == ["circle": ["radius": 0.0]])
        #expect(Value(exampleOf: Drawing.self)?.description == #"{"shape":{"circle":{"radius":0.0}},"title":""}"#)
        #expect(Value(exampleOf: Mode.self) == nil)
        #expect(Value(exampleOf: [Mode].self) == [])
    }

    @Test func `An example of a type has dates as texts if it is for people`() throws {
        let encode = { (value: any Encodable) in try StateEncoder().example(of: value) }
        #expect(Value(exampleOf: Newtype<Date>.self, encode) == "2001-01-01T00:00:00Z")
        let dates = [
            Date(timeIntervalSince1970: 1_800_000_000), Date(timeIntervalSinceReferenceDate: 0.5), .distantFuture,
        ]
        #expect(try encode(dates) == ["2027-01-15T08:00:00Z", 0.5, "4001-01-01T00:00:00Z"])
        #expect(try StateDecoder(acceptsJSONForms: true).decode([Date].self, from: encode(dates)) == dates)
        #expect(try StateEncoder().value(of: dates).arrayValue?.last == 63_113_904_000.0)
    }

    @Test func `An example of a type does not exist if the type refuses default values`() {
        #expect(Value(exampleOf: Priced.self) == nil)
        #expect(Value(exampleOf: MayBePriced.self) == [:])
        #expect(Value(exampleOf: Insatiable.self) == nil)
    }

    @Test func `An example of a type is created once for each type, however many fields have the type`() {
        #expect(Value(exampleOf: Fan12<Fan12<Int>>.self) != nil)
    }
}

private enum Shape: Codable {
    case circle(radius: Double), square(side: Double), nothing
    enum CodingKeys: CodingKey, CaseIterable { case circle, square, nothing }
}
private struct Drawing: Codable {
    var shape: Shape
    var title: String
}
private enum Way: String, Codable, CaseIterable { case up, down }
private enum Numbered: Int, Codable { case none, one }
private struct Sub: Codable { var x: Int }
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
}
/// Has each part twice. (If one declaration conformed to both halves of `Codable`, the compiler would need exponential
/// time.)
private struct Fan<Part: Decodable>: Decodable { var left: [Part], right: [Part] }
extension Fan: Encodable where Part: Encodable {}
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
/// Decodes elements until it fails.
private struct Insatiable: Codable {
    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while true { _ = try container.decode(Int.self) }
    }
}
