import Foundation
import StatecastCoding
import Testing

/// A type may try several types in turn. It must decode the same from a patch as from the patched tree, or a replica
/// would show a value that no primary published.
@Suite struct `A patch of a type that tries several types` {
    @Test(arguments: Place.allCases)
    func `A patch leads to the published value, wherever a type that tries several types is`(place: Place) throws {
        for old in Content.all {
            for new in Content.all {
                let old = Tried(name: "a", content: old, place: place)
                let new = Tried(name: "b", content: new, place: place)
                try checkLaws(from: old, to: new)
                try checkLaws(from: ["x": [old]], to: ["x": [new, old]])
                try checkLaws(from: [7: old] as Table, to: [7: new, 8: old])
                try checkLaws(from: Holder(payload: .given(old, 1)), to: Holder(payload: .given(new, 1)))
                try checkLaws(from: Holder(maybe: old), to: Holder(maybe: new))
            }
        }
    }

    @Test func `A patch of a type that tries several types decodes each part once, however deep it is`() throws {
        func deep(_ leaf: Double) -> Deep { (0..<12).reduce(Deep.leaf(leaf)) { inner, _ in Deep.inner([inner]) } }
        let (old, new) = (["row": deep(1)], ["row": deep(2)])
        let patch = try Differ.patch(from: old, to: new).patch
        let count = Kept(0)
        var state = old
        try Deep.$decodings.withValue(count) { try patch.apply(to: &state) }
        #expect(state == new)
        #expect(count.value == 13)
    }
}

/// A value of one of many types, and texts that JSON would read as another type.
private enum Content: Equatable {
    case int(Int), id(UUID), bytes(Data), decimal(Decimal), link(URL), date(Date), text(String)
    case counts([Int: Int]), words([String: Int]), ids([UUID]), texts([String])

    static let all: [Content] = [
        .int(1), .int(2), .date(Date(timeIntervalSinceReferenceDate: 1)),
        .date(Date(timeIntervalSinceReferenceDate: 1.5)), .id(uuid), .bytes(Data([1, 2, 3])), .decimal(1),
        .decimal(1.5),
        .link(URL(filePath: "/a")), .text("1"), .text("1.5"), .text("NaN"), .text("AQID"), .text(uuid.uuidString),
        .text("2026-01-02T03:04:05Z"), .text("/a"), .text("é"), .counts([1: 1, 2: 2]), .words(["1": 1]),
        .words(["a": 1, "b": 2]), .ids([uuid]), .texts([uuid.uuidString]), .texts(["1", "2"]),
    ]
    private static let uuid = UUID(uuid: (103, 229, 80, 68, 16, 177, 66, 111, 146, 71, 187, 104, 14, 95, 224, 200))

    /// Decodes the first type that comes.
    init(from container: KeyedDecodingContainer<Place.Key>, _ place: Place) throws {
        func decoded<T: Decodable>(_ type: T.Type) -> T? { try? place.decode(type, from: container) }
        let attempts: [() -> Content?] = [
            { decoded(Int.self).map { .int($0) } }, { decoded(UUID.self).map { .id($0) } },
            { decoded(Data.self).map { .bytes($0) } }, { decoded(Decimal.self).map { .decimal($0) } },
            { decoded(URL.self).map { .link($0) } }, { decoded(Date.self).map { .date($0) } },
            { decoded([Int: Int].self).map { .counts($0) } }, { decoded([String: Int].self).map { .words($0) } },
            { decoded([UUID].self).map { .ids($0) } }, { decoded([String].self).map { .texts($0) } },
        ]
        self = try attempts.lazy.compactMap { $0() }.first ?? .text(place.decode(String.self, from: container))
    }

    var value: any Encodable & Sendable {
        switch self {
        case .int(let value): value
        case .id(let value): value
        case .bytes(let value): value
        case .decimal(let value): value
        case .link(let value): value
        case .date(let value): value
        case .counts(let value): value
        case .words(let value): value
        case .ids(let value): value
        case .texts(let value): value
        case .text(let value): value
        }
    }
}

private struct Tried: Codable, Equatable {
    var name: String
    var content: Content
    var place: Place

    init(name: String, content: Content, place: Place) {
        (self.name, self.content, self.place) = (name, content, place)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Place.Key.self)
        name = try container.decode(String.self, forKey: .name)
        place = try container.decode(Place.self, forKey: .place)
        content = try Content(from: container, place)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Place.Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(place, forKey: .place)
        try place.encode(content.value, to: &container)
    }
}

private struct Holder: Codable, Equatable {
    enum Payload: Codable, Equatable {
        case none
        case given(Tried, Int)
    }

    var payload = Payload.none
    var maybe: Tried?
}

/// Tries three types on each level, and counts how often it is decoded.
private indirect enum Deep: Codable, Equatable {
    enum Key: CodingKey { case content }

    @TaskLocal static var decodings = Kept(0)

    case inner([Deep]), leaf(Double), number(Int)

    init(from decoder: any Decoder) throws {
        Deep.decodings.value += 1
        let container = try decoder.container(keyedBy: Key.self)
        self =
            if let number = try? container.decode(Int.self, forKey: .content) {
                .number(number)
            } else if let leaf = try? container.decode(Double.self, forKey: .content) {
                .leaf(leaf)
            } else {
                .inner(try container.decode([Deep].self, forKey: .content))
            }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .inner(let inner): try container.encode(inner, forKey: .content)
        case .leaf(let leaf): try container.encode(leaf, forKey: .content)
        case .number(let number): try container.encode(number, forKey: .content)
        }
    }
}
