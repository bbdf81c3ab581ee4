import StatecastCoding
import Testing

/// A type may use a default for a part that it cannot decode. It must not hide a patch that does not fit: its state
/// would then differ from those of the primary and of the tree.
@Suite struct `A patch of a type that ignores decoding failures` {
    @Test(
        arguments: [
            (["list": [7: [5]]], "list"), (["list": [5, 1, []]], "list"), (["list": ["x": [5]]], "list"),
            (["list": [[7: [5]], [1: [5]]]], "list"), (["field": ["list": [7: [5]]]], "field.list"),
            (["payload": ["listed": ["list": [7: [5]]]]], "payload.listed.list"),
            (["whole": ["list": [7: [5]]]], "whole.list"), (["rows": ["a": ["list": [7: [5]]]]], "rows.a.list"),
        ] as [(Value, String)]
    )
    func `A patch that does not fit a type that ignores decoding failures is refused`(
        wire: Value,
        path: String
    ) throws {
        let before = Lenient()
        var state = before
        let patch = try Patch(decoding: wire.encoded)
        let failure = #expect(throws: CodingFailure.self) { try patch.apply(to: &state) }
        #expect(failure?.code == .patchMismatch && failure?.path.joined(separator: ".") == path)
        #expect(state == before)
    }

    @Test(
        arguments: [
            ["list": [1: ["x"]]], ["field": ["list": [["x"]]]], ["payload": ["listed": ["list": [0: [true]]]]],
            ["whole": ["list": [0: ["x"]]]], ["rows": ["a": ["list": [0: ["x"]]]]], ["list": [0: [5]]],
        ] as [Value]
    )
    func `A patch that fits a type that ignores decoding failures has the same effect as on the tree`(
        wire: Value
    ) throws {
        var state = Lenient()
        var tree = try StateEncoder().value(of: state)
        let patch = try Patch(decoding: wire.encoded)
        try patch.apply(to: &tree)
        try patch.apply(to: &state)
        #expect(try state == StateDecoder().decode(Lenient.self, from: tree))
    }
}

private struct Lenient: Codable, Equatable {
    var list = Numbers(list: [1, 2])
    var field = Field(list: [1, 2])
    var payload = LenientCase.listed(list: [1, 2])
    var whole = Whole(list: [1, 2])
    var rows = ["a": Field(list: [1, 2])]
}

private struct Numbers: Codable, Equatable {
    var list: [Int]

    init(list: [Int]) { self.list = list }
    init(from decoder: any Decoder) throws { list = (try? decoder.singleValueContainer().decode([Int].self)) ?? [] }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(list)
    }
}

private struct Field: Codable, Equatable {
    var list: [Int]

    init(list: [Int]) { self.list = list }
    init(from decoder: any Decoder) throws {
        list = (try? decoder.container(keyedBy: CodingKeys.self).decode([Int].self, forKey: .list)) ?? []
    }
}

private enum LenientCase: Codable, Equatable {
    enum Case: CodingKey { case listed }
    enum Part: CodingKey { case list }

    case listed(list: [Int])

    init(from decoder: any Decoder) throws {
        let payload = try decoder.container(keyedBy: Case.self).nestedContainer(keyedBy: Part.self, forKey: .listed)
        self = .listed(list: (try? payload.decode([Int].self, forKey: .list)) ?? [])
    }
}

/// Decodes a single value, although it encodes fields.
private struct Whole: Codable, Equatable {
    var list: [Int]

    init(list: [Int]) { self.list = list }
    init(from decoder: any Decoder) throws {
        list = (try? decoder.singleValueContainer().decode([String: [Int]].self))?["list"] ?? []
    }
}
