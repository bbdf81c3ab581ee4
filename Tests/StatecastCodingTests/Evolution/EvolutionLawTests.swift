import StatecastCoding
import Testing

/// Laws for any two builds. Types and values are generated from the seed, which a failure shows.
@Suite struct `The laws of evolution` {
    struct Before<Kept: Generated>: Generated {
        var kept: Kept

        static func make(_ generator: inout SeededGenerator) -> Self { Self(kept: .make(&generator)) }
    }

    struct After<Kept: Generated, Added: Generated>: Generated {
        var kept: Kept
        var added: Added

        static func make(_ generator: inout SeededGenerator) -> Self {
            Self(kept: .make(&generator), added: .make(&generator))
        }
    }

    /// A value in every kind of place.
    struct Places<Row: Generated>: Generated {
        var field: Row
        var nested: Newtype<Row>
        var maybe: Row?
        var list: [Row]
        var table: Table<Int, Row>
        var deep: [String: Choice<Row, [Row]>]

        static func make(_ generator: inout SeededGenerator) -> Self {
            Self(
                field: .make(&generator),
                nested: .make(&generator),
                maybe: .make(&generator),
                list: .make(&generator),
                table: .make(&generator),
                deep: .make(&generator)
            )
        }

        /// The same with converted rows; each row outside of a collection has its own conversion.
        func map<New: Generated>(field: (Row) -> New, nested: (Row) -> New, maybe: (Row) -> New, _ row: (Row) -> New)
            -> Places<New>
        {
            Places<New>(
                field: field(self.field),
                nested: Newtype(content: nested(self.nested.content)),
                maybe: self.maybe.map(maybe),
                list: list.map(row),
                table: Table(table.map { ($0.key, row($0.value)) }) { first, _ in first },
                deep: deep.mapValues { choice in
                    switch choice {
                    case .nothing: .nothing
                    case .first(let first): .first(row(first))
                    case .both(let first, let second): .both(first: row(first), second: second.map(row))
                    }
                }
            )
        }
    }

    @Test(arguments: seeds(0..<100))
    func `The laws of evolution hold for generated types and values`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let (kept, added) = (generator.type(depth: 1 + generator.below(2)), generator.type(depth: 1))
        for _ in 0..<4 { try check(kept, added, &generator) }
    }

    private func check<Kept: Generated, Added: Generated>(
        _ kept: Kept.Type,
        _ added: Added.Type,
        _ generator: inout SeededGenerator
    ) throws {
        typealias Old = Before<Kept>
        typealias New = After<Kept, Added>
        let (encoder, decoder) = (StateEncoder(), StateDecoder())
        let type: Comment = "\(New.self)"
        let old = Places<Old>.make(&generator)
        let tree = try encoder.value(of: old)
        let initial = Places<New>.make(&generator)
        let row = New.make(&generator)
        func added(_ value: Added) -> (Old) -> New { { New(kept: $0.kept, added: value) } }

        // Missing fields are filled, and nothing else is changed.
        let defaults = try FieldDefaults(initial: initial, rows: [row])
        let new = try decoder.decode(Places<New>.self, from: tree, filling: defaults)
        let expected = old.map(
            field: added(initial.field.added),
            nested: added(initial.nested.content.added),
            maybe: added((initial.maybe ?? row).added),
            added(row.added)
        )
        #expect(new == expected, type)

        // A build decodes its own encoding unchanged, whatever the defaults.
        let after = try encoder.value(of: new)
        #expect(try decoder.decode(Places<New>.self, from: after, filling: defaults) == new, type)

        // A build that would lose a field refuses the state.
        if after[path: "field.added"]?.isNull == false {
            let before = try FieldDefaults(initial: old, rows: [old.field])
            let failure = #expect(throws: CodingFailure.self, type) {
                try decoder.decode(Places<Old>.self, from: after, filling: before)
            }
            #expect(failure?.code == .unknownKey, type)
        }
    }
}
