// States with one flaw each, and types to put them into.

struct Outer<Inner: Codable & Equatable, Tags: Codable & Equatable>: Codable, Equatable {
    var title = "outer"
    var inner: Inner
    var tags: Tags
}

extension Outer where Tags == Int {
    init(inner: Inner) { self.init(inner: inner, tags: 0) }
}

struct Nothing: Codable, Equatable {}

final class Gnome: Codable, Equatable {
    static func == (left: Gnome, right: Gnome) -> Bool { left === right }
}

struct Yard: Codable, Equatable {
    struct Bed: Codable, Equatable { var gnome: Gnome? }
    var beds: [Bed]
    var spare: Bed?
}

struct Unwritable: Codable, Equatable {
    var depth = Depth()

    struct Depth: Codable, Equatable {
        struct NoText: Error, CustomStringConvertible { var description: String { "no text" } }
        init() {}
        init(from decoder: any Decoder) {}
        func encode(to encoder: any Encoder) throws { throw NoText() }
    }
}

/// Writes one key and reads another.
struct Renamed: Codable, Equatable {
    var a: Int

    enum Key: CodingKey { case a, b }

    init(a: Int) { self.a = a }
    init(from decoder: any Decoder) throws {
        a = try decoder.container(keyedBy: Key.self).decode(Int.self, forKey: .b)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(a, forKey: .a)
    }
}

/// Writes a field and does not read it.
struct Forgetful: Codable, Equatable {
    var a = 0

    init(a: Int) { self.a = a }
    init(from decoder: any Decoder) {}
    enum CodingKeys: CodingKey { case a }
}

/// Calls its content's encode(to:).
struct Direct<Content: Codable & Equatable>: Codable, Equatable {
    var content: Content

    init(content: Content) { self.content = content }
    init(from decoder: any Decoder) throws { content = try Content(from: decoder) }
    func encode(to encoder: any Encoder) throws { try content.encode(to: encoder) }
}

struct Place: Codable, Hashable { var row: Int, column: Int }

/// Writes another number each time.
struct Restless: Codable, Equatable {
    nonisolated(unsafe) private static var count = 0

    init() {}
    init(from decoder: any Decoder) {}
    func encode(to encoder: any Encoder) throws {
        Self.count += 1
        var container = encoder.singleValueContainer()
        try container.encode(Self.count)
    }
}

struct Partial: Codable, Equatable {
    var a: Int
    var hidden = 0

    enum CodingKeys: CodingKey { case a }
}

/// Equal to its decoded copy, whatever its hidden field.
struct Wildcard: Codable, Equatable {
    var a: Int
    var hidden = 0

    enum CodingKeys: CodingKey { case a }
    static func == (left: Self, right: Self) -> Bool {
        left.a == right.a && (left.hidden == right.hidden || left.hidden * right.hidden == 0)
    }
}

/// Compares one of its two fields.
struct Careless: Codable, Equatable {
    var a: Int
    var b: Int

    static func == (left: Self, right: Self) -> Bool { left.a == right.a }
}

struct Never: Codable, Equatable {
    var a: Int

    static func == (left: Self, right: Self) -> Bool { false }
}

/// Compares all fields of a part whose own equality does not.
struct Strict: Codable, Equatable {
    var part: Careless

    static func == (left: Self, right: Self) -> Bool { left.part == right.part && left.part.b == right.part.b }
}
