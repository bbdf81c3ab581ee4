import StatecastCoding
import Testing

/// A patch decodes the fields that it does not change from their stored values. A type may read a field as another type
/// than the one that it writes.
@Suite struct `A field that a patch does not change` {
    @Test(
        arguments: [
            Reinterpreted(), Reinterpreted(note: "a", plain: 7, nested: .some(3), named: "red"),
            Reinterpreted(note: "b", plain: 0, nested: .none, named: "none"),
        ]
    )
    func `A field that a patch does not change keeps its value, whichever type it is read as`(
        before: Reinterpreted
    ) throws {
        var after = before
        after.count += 1
        let patch = try Differ.patch(from: before, to: after).patch
        var (state, tree) = (before, try StateEncoder().value(of: before))
        try patch.apply(to: &tree)
        try patch.apply(to: &state)
        #expect(try state == StateDecoder().decode(Reinterpreted.self, from: tree))
        #expect(state == after)
    }
}

struct Reinterpreted: Codable, Equatable, Sendable {
    enum Color: String, Codable { case red }

    var count = 0
    /// Written as a text or null, read as an optional.
    var note: String?
    /// Written as an integer, read as an optional.
    var plain = 1
    /// Written and read as an optional of an optional.
    var nested: Int??
    /// Written as a text, read as a color if it is one.
    var named = ""

    enum CodingKeys: CodingKey { case count, note, plain, nested, named }

    init() {}
    init(note: String?, plain: Int, nested: Int??, named: String) {
        (self.note, self.plain, self.nested, self.named) = (note, plain, nested, named)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        count = try container.decode(Int.self, forKey: .count)
        note = try container.decode(String?.self, forKey: .note)
        plain = try #require(container.decodeIfPresent(Int?.self, forKey: .plain) ?? nil)
        nested = try container.decode(Int??.self, forKey: .nested)
        named =
            try (try? container.decode(Color?.self, forKey: .named)?.rawValue)
            ?? container.decode(String.self, forKey: .named)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(count, forKey: .count)
        if let note { try container.encode(note, forKey: .note) } else { try container.encodeNil(forKey: .note) }
        try container.encode(plain, forKey: .plain)
        try container.encode(nested, forKey: .nested)
        try container.encode(named, forKey: .named)
    }
}
