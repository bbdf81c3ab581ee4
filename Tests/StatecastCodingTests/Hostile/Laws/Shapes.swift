import StatecastCoding

extension Laws {
    /// A recursive type, for values as deep as the limits allow.
    struct Tree: Codable, Equatable {
        var leaf: Int??
        var branches: [Tree] = []
        var named: [String: Tree]?
    }

    /// Numbers of every width, each with its own range.
    struct Numbers: Codable, Equatable {
        var tiny: Int8?
        var byte: UInt8?
        var small: Int32?
        var large: UInt64?
        var float: Float?
        var double: Double?
    }

    /// Typical tables of a user's state.
    struct Shelf: Codable, Equatable {
        var rows: Table<String, Row> = [:]
        var counts: Table<Int, [Int: Bool]>?
    }

    /// Has one of several types, and tries them in turn.
    enum Answer: Codable, Equatable {
        private enum Key: CodingKey { case given }

        case count(Int)
        case bytes([UInt8])
        case counts([Int: Bool])
        case share(Double)
        case shares([Double?])
        case words([String: String])
        case word(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            func given<T: Decodable>(as type: T.Type) -> T? { try? container.decode(type, forKey: .given) }
            let attempts: [() -> Answer?] = [
                { given(as: Int.self).map { .count($0) } }, { given(as: [UInt8].self).map { .bytes($0) } },
                { given(as: [Int: Bool].self).map { .counts($0) } }, { given(as: Double.self).map { .share($0) } },
                { given(as: [Double?].self).map { .shares($0) } },
                { given(as: [String: String].self).map { .words($0) } },
            ]
            self = try attempts.lazy.compactMap { $0() }.first ?? .word(container.decode(String.self, forKey: .given))
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            switch self {
            case .count(let count): try container.encode(count, forKey: .given)
            case .bytes(let bytes): try container.encode(bytes, forKey: .given)
            case .counts(let counts): try container.encode(counts, forKey: .given)
            case .share(let share): try container.encode(share, forKey: .given)
            case .shares(let shares): try container.encode(shares, forKey: .given)
            case .words(let words): try container.encode(words, forKey: .given)
            case .word(let word): try container.encode(word, forKey: .given)
            }
        }
    }

    /// The types that any bytes are decoded as.
    static let shapes: [any (Codable & Sendable).Type] = [
        World.self, Tree.self, Numbers.self, Mode.self, [String: Mode].self, [Int: [UInt8]].self, [Kind: Bool].self,
        Shelf.self, Table<Int, Mode>.self, Newtype<Table<Int, Newtype<Row>>>.self, Newtype<[Newtype<Mode>?]>.self,
        Answer.self, [String: [Answer?]].self, Set<Int>.self, [Set<String>].self, [Row?].self, [String?: [Double]].self,
        String.self, Int.self, Float.self,
    ]
}
