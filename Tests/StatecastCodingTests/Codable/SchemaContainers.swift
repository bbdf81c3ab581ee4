import StatecastCoding

/// Decodes elements to the end of its container.
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

/// Decodes nested containers.
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
