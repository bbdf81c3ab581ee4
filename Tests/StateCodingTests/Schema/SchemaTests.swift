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
        #expect(Schema.example(of: NeedsMode.self) == nil)
        #expect(Schema.example(of: MayNeedMode.self) == [:])
        #expect(Schema.example(of: Kind.self) == nil)
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

    @Test func `has the same fingerprint in every build`() {
        #expect(Schema.fingerprint(of: First.self) == 12_502_831_970_876_772_845)
        #expect(Schema.fingerprint(of: Tree.self) == 18_217_932_945_765_103_416)
    }
}

private struct Sub: Codable { var x: Int }
private enum Way: String, Codable, CaseIterable { case up, down }
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
private struct NeedsMode: Codable { var mode: Mode }
private struct MayNeedMode: Codable { var mode: Mode? }

private struct First: Codable { var a: Int, b: [String: Inner] }
private struct Inner: Codable { var text: String }
private struct Reordered: Codable { var b: [String: Renamed], a: Int }
private struct Renamed: Codable { var text: String }
private struct OtherKey: Codable { var aa: Int, b: [String: Inner] }
private struct OtherKind: Codable { var a: String, b: [String: Inner] }
private struct OtherRow: Codable { var a: Int, b: [String: Int] }
private struct OptionalField: Codable { var a: Int?, b: [String: Inner] }
