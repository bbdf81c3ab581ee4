import Foundation
import StatecastCoding
import Testing

@Suite struct `Coders of Foundation` {
    @Test func `Coders of Foundation encode and decode a table like a dictionary`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let (table, model): (Table<String, [Int]>, [String: [Int]]) = (["b": [1], "a": []], ["b": [1], "a": []])
        let data = try encoder.encode(table)
        #expect(try data == encoder.encode(model))
        #expect(try JSONDecoder().decode(Table<String, [Int]>.self, from: data) == table)
    }

    @Test func `Coders of Foundation support keys of any type`() throws {
        enum Kind: String, Codable, Comparable {
            case red, green
            static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
        }
        let (byKind, byNumber): (Table<Kind, Int>, Table<Int, Int>) = ([.red: 1, .green: 2], [10: 1, 9: 2])
        #expect(try JSONDecoder().decode(Table<Kind, Int>.self, from: JSONEncoder().encode(byKind)) == byKind)
        #expect(try JSONDecoder().decode(Table<Int, Int>.self, from: JSONEncoder().encode(byNumber)) == byNumber)
    }
}

@Suite struct `A table of texts` {
    /// The order of the encodings is another one: shorter keys come first.
    @Test func `A table of texts is read in the order of its keys, whatever their spelling`() throws {
        let texts = [
            "", "a", "z", "zz", "e\u{301}", "e", "ea", "\u{E9}a", "e\u{316}\u{301}", "e\u{301}\u{316}\u{301}",
            "\u{65E5}\u{672C}", "\u{1D15E}", "\u{D55C}", "\u{1112}\u{1161}", "\u{212B}x", "\u{FB2C}", "\u{1F82}",
            "\u{928}\u{93C}", "\u{1F468}\u{200D}\u{1F469}", "\u{F71}\u{F72}", "\u{3C9}\u{301}\u{345}", "\u{F900}",
        ]
        let map = ValueMap(texts.enumerated().map { (.text($1), Value($0)) })
        let table = try StateDecoder().decode(Table<String, Int>.self, from: .map(map))
        #expect(table.count == texts.count)
        #expect(zip(table.keys, table.keys.dropFirst()).allSatisfy { $0 < $1 })
        for (key, value) in map { #expect(table[try #require(key.textValue)] == value.intValue) }
    }
}
