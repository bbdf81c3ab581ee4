import Foundation
import StateCoding
import Testing

@Suite struct `Coders of Foundation` {
    @Test func `encode and decode a table like a dictionary`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let (table, model): (Table<String, [Int]>, [String: [Int]]) = (["b": [1], "a": []], ["b": [1], "a": []])
        let data = try encoder.encode(table)
        #expect(try data == encoder.encode(model))
        #expect(try JSONDecoder().decode(Table<String, [Int]>.self, from: data) == table)
    }

    @Test func `support keys of any type`() throws {
        enum Kind: String, Codable, Comparable {
            case red, green
            static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
        }
        let (byKind, byNumber): (Table<Kind, Int>, Table<Int, Int>) = ([.red: 1, .green: 2], [10: 1, 9: 2])
        #expect(try JSONDecoder().decode(Table<Kind, Int>.self, from: JSONEncoder().encode(byKind)) == byKind)
        #expect(try JSONDecoder().decode(Table<Int, Int>.self, from: JSONEncoder().encode(byNumber)) == byNumber)
    }
}
