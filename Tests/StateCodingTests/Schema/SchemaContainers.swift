import StateCoding

/// A field behind another one.
struct Behind<Before: Codable, After: Codable>: Codable { var before: Before, field: After }

/// Reads itself to the end.
struct Listed<Element: Codable>: Codable {
    var elements: [Element] = []

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { elements.append(try container.decode(Element.self)) }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(contentsOf: elements)
    }
}
struct Endless: Codable { var children: Listed<Endless> }

/// Reads nested containers.
struct Nested<Content: Codable>: Codable {
    var content: Content

    enum Key: CodingKey { case outer, inner }

    init(from decoder: any Decoder) throws {
        var list = try decoder.container(keyedBy: Key.self).nestedUnkeyedContainer(forKey: .outer)
        content = try list.nestedContainer(keyedBy: Key.self).decode(Content.self, forKey: .inner)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        var list = container.nestedUnkeyedContainer(forKey: .outer)
        var inner = list.nestedContainer(keyedBy: Key.self)
        try inner.encode(content, forKey: .inner)
    }
}

/// Is its content.
struct Wrapped<Content: Codable>: Codable {
    var content: Content

    init(from decoder: any Decoder) throws { content = try decoder.singleValueContainer().decode(Content.self) }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(content)
    }
}

struct Ping: Codable { var pong: [Pong], a: Int }
struct Pong: Codable { var ping: [Ping], b: Int }
struct PingPong: Codable { var ping: Ping, pong: Pong }
struct PongPing: Codable { var pong: Pong, ping: Ping }

/// Has a field behind a text that must be in a format.
struct Stamped<Part: Codable & ExpressibleByIntegerLiteral>: Codable, SchemaExample {
    struct NoTime: Error {}
    var time: String
    var part: Part

    enum CodingKeys: CodingKey { case time, part }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        time = try container.decode(String.self, forKey: .time)
        guard time.contains(":") else { throw NoTime() }
        part = try container.decode(Part.self, forKey: .part)
    }

    init(time: String, part: Part) { (self.time, self.part) = (time, part) }
    static var schemaExample: Stamped { Stamped(time: "12:00", part: 0) }
}
