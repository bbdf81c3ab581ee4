import StatecastCoding

/// A struct of any three types, one of them optional.
struct Three<First: Generated, Second: Generated, Third: Generated>: Generated {
    var first: First
    var second: Second
    var third: Third?

    static func make(_ generator: inout SeededGenerator) -> Three {
        Three(first: .make(&generator), second: .make(&generator), third: .make(&generator))
    }

    mutating func change(_ generator: inout SeededGenerator) {
        switch generator.below(3) {
        case 0: first.change(&generator)
        case 1: second.change(&generator)
        default: third.change(&generator)
        }
    }
}

/// An enum with payloads of any two types.
enum Choice<First: Generated, Second: Generated>: Generated {
    case nothing
    case first(First)
    case both(first: First, second: Second)

    static func make(_ generator: inout SeededGenerator) -> Choice {
        switch generator.below(3) {
        case 0: .nothing
        case 1: .first(.make(&generator))
        default: .both(first: .make(&generator), second: .make(&generator))
        }
    }

    mutating func change(_ generator: inout SeededGenerator) {
        switch self {
        case .first(var first) where generator.below(3) > 0:
            first.change(&generator)
            self = .first(first)
        case .both(var first, var second) where generator.below(3) > 0:
            if generator.below(2) == 0 { first.change(&generator) } else { second.change(&generator) }
            self = .both(first: first, second: second)
        default: self = .make(&generator)
        }
    }
}

/// Encodes its two parts in containers that synthesized coding does not use.
struct ByHand<First: Generated, Second: Generated>: Generated {
    var first: First
    var second: Second

    init(first: First, second: Second) {
        self.first = first
        self.second = second
    }

    enum Key: CodingKey { case list, nested, above }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        var list = try container.nestedUnkeyedContainer(forKey: .list)
        first = try list.decode(First.self)
        second = try container.nestedContainer(keyedBy: Key.self, forKey: .nested).decode(Second.self, forKey: .nested)
        _ = try Bool(from: container.superDecoder(forKey: .above))
    }

    /// All containers are open at the same time, and filled in another order than they were opened.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        var list = container.nestedUnkeyedContainer(forKey: .list)
        var nested = container.nestedContainer(keyedBy: Key.self, forKey: .nested)
        let above = container.superEncoder(forKey: .above)
        try nested.encode(second, forKey: .nested)
        try true.encode(to: above)
        try list.encode(first)
    }

    static func make(_ generator: inout SeededGenerator) -> ByHand {
        ByHand(first: .make(&generator), second: .make(&generator))
    }

    mutating func change(_ generator: inout SeededGenerator) {
        if generator.below(2) == 0 { first.change(&generator) } else { second.change(&generator) }
    }
}

extension Newtype: Generated where Content: Generated {
    static func make(_ generator: inout SeededGenerator) -> Newtype { Newtype(content: .make(&generator)) }
    mutating func change(_ generator: inout SeededGenerator) { content.change(&generator) }
}

/// Encodes its content in its place, by passing the encoder on. (A set that receives the encoder like this writes
/// itself in hash order, for which there are no laws, so the content is always a struct.)
struct Alias<Content: Generated>: Generated {
    var content: Content

    init(content: Content) { self.content = content }
    init(from decoder: any Decoder) throws { content = try Content(from: decoder) }
    func encode(to encoder: any Encoder) throws { try content.encode(to: encoder) }

    static func make(_ generator: inout SeededGenerator) -> Alias { Alias(content: .make(&generator)) }
    mutating func change(_ generator: inout SeededGenerator) { content.change(&generator) }
}

/// The container in which a type encodes a part by hand.
enum Place: String, Codable, CaseIterable, Sendable {
    enum Key: CodingKey { case content, name, place }

    case field, optional, nested, list, above

    func decode<T: Decodable>(_ type: T.Type, from container: KeyedDecodingContainer<Key>) throws -> T {
        switch self {
        case .field: return try container.decode(type, forKey: .content)
        case .optional:
            guard let content = try container.decodeIfPresent(type, forKey: .content) else {
                throw CodingFailure(.missingValue, "expected \(type), got nothing", path: [])
            }
            return content
        case .nested:
            return try container.nestedContainer(keyedBy: Key.self, forKey: .content).decode(type, forKey: .content)
        case .list:
            var list = try container.nestedUnkeyedContainer(forKey: .content)
            return try list.decode(type)
        case .above: return try container.superDecoder(forKey: .content).singleValueContainer().decode(type)
        }
    }

    func encode(_ content: some Encodable, to container: inout KeyedEncodingContainer<Key>) throws {
        switch self {
        case .field, .optional: try container.encode(content, forKey: .content)
        case .nested:
            var nested = container.nestedContainer(keyedBy: Key.self, forKey: .content)
            try nested.encode(content, forKey: .content)
        case .list:
            var list = container.nestedUnkeyedContainer(forKey: .content)
            try list.encode(content)
        case .above:
            var above = container.superEncoder(forKey: .content).singleValueContainer()
            try above.encode(content)
        }
    }
}

/// Encodes a value of one of two types without naming the type, in any kind of container, and decodes it by trying the
/// types in turn.
struct Untagged<First: Generated, Second: Generated>: Generated {
    private enum Content: Equatable, Sendable {
        case first(First)
        case second(Second)
    }

    private var content: Content
    private let place: Place

    private init(_ content: Content, _ place: Place) {
        self.content = content
        self.place = place
        preferFirst()
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Place.Key.self)
        place = try container.decode(Place.self, forKey: .place)
        content =
            if let first = try? place.decode(First.self, from: container) {
                .first(first)
            } else {
                .second(try place.decode(Second.self, from: container))
            }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Place.Key.self)
        try container.encode(place, forKey: .place)
        switch content {
        case .first(let first): try place.encode(first, to: &container)
        case .second(let second): try place.encode(second, to: &container)
        }
    }

    /// No value of the second type may have an encoding of the first: it would not come back.
    private mutating func preferFirst() {
        guard case .second(let second) = content, let tree = try? StateEncoder().value(of: second),
            let first = try? StateDecoder().decode(First.self, from: tree)
        else { return }
        content = .first(first)
    }

    static func make(_ generator: inout SeededGenerator) -> Untagged {
        let content: Content =
            generator.below(2) == 0 ? .first(.make(&generator)) : .second(.make(&generator))
        return Untagged(content, generator.pick(Place.allCases))
    }

    mutating func change(_ generator: inout SeededGenerator) {
        switch content {
        case .first(var first) where generator.below(3) > 0:
            first.change(&generator)
            self = Untagged(.first(first), place)
        case .second(var second) where generator.below(3) > 0:
            second.change(&generator)
            self = Untagged(.second(second), place)
        default: self = .make(&generator)
        }
    }
}

extension SeededGenerator {
    /// A random type.
    mutating func type(depth: Int) -> any Generated.Type {
        guard depth > 0 else {
            return pick(
                [Int.self, String.self, Bool.self, Double.self, UInt8.self, Color.self] as [any Generated.Type]
            )
        }
        let (first, second, third) = (type(depth: depth - 1), type(depth: depth - 1), type(depth: below(depth)))
        let key = keyType()
        switch below(13) {
        case 0...2: return three(first, second, third)
        case 3: return choice(first, second)
        case 4: return byHand(first, second)
        case 5: return newtype(first)
        case 6: return alias(first, second)
        case 7: return keyed(key, first)
        case 8: return set(key)
        case 9: return array(first)
        case 10, 11: return untagged(first, second)
        default: return optional(first)
        }
    }

    private mutating func keyType() -> any GeneratedKey.Type {
        pick([Int.self, String.self, UInt8.self, Color.self] as [any GeneratedKey.Type])
    }

    private func three<A: Generated>(
        _ first: A.Type,
        _ second: any Generated.Type,
        _ third: any Generated.Type
    ) -> any Generated.Type {
        func with<B: Generated>(_ second: B.Type) -> any Generated.Type {
            func with<C: Generated>(_ third: C.Type) -> any Generated.Type { Three<A, B, C>.self }
            return with(third)
        }
        return with(second)
    }

    private func choice<A: Generated>(_ first: A.Type, _ second: any Generated.Type) -> any Generated.Type {
        func with<B: Generated>(_ second: B.Type) -> any Generated.Type { Choice<A, B>.self }
        return with(second)
    }

    private func byHand<A: Generated>(_ first: A.Type, _ second: any Generated.Type) -> any Generated.Type {
        func with<B: Generated>(_ second: B.Type) -> any Generated.Type { ByHand<A, B>.self }
        return with(second)
    }

    private func untagged<A: Generated>(_ first: A.Type, _ second: any Generated.Type) -> any Generated.Type {
        func with<B: Generated>(_ second: B.Type) -> any Generated.Type { Untagged<A, B>.self }
        return with(second)
    }

    private mutating func keyed<K: GeneratedKey>(_ key: K.Type, _ row: any Generated.Type) -> any Generated.Type {
        let isDictionary = below(3) == 0
        func with<R: Generated>(_ row: R.Type) -> any Generated.Type {
            isDictionary ? [K: R].self : Table<K, R>.self
        }
        return with(row)
    }

    private func newtype<A: Generated>(_ content: A.Type) -> any Generated.Type { Newtype<A>.self }
    private func alias<A: Generated>(_ first: A.Type, _ second: any Generated.Type) -> any Generated.Type {
        func with<B: Generated>(_ second: B.Type) -> any Generated.Type { Alias<Three<A, B, Int>>.self }
        return with(second)
    }

    private func set<K: GeneratedKey>(_ element: K.Type) -> any Generated.Type { Set<K>.self }

    private func array<A: Generated>(_ element: A.Type) -> any Generated.Type { [A].self }
    private func optional<A: Generated>(_ wrapped: A.Type) -> any Generated.Type { A?.self }
}
