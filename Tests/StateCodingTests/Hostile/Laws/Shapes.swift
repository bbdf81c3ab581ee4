import StateCoding

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

    /// A type with the encoding of its content.
    struct Newtype<Content: Codable & Sendable>: Codable, Sendable {
        var content: Content

        init(from decoder: any Decoder) throws { content = try decoder.singleValueContainer().decode(Content.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(content)
        }
    }

    /// The types that any bytes are decoded as.
    static let shapes: [any (Codable & Sendable).Type] = [
        World.self, Tree.self, Numbers.self, Mode.self, [String: Mode].self, [Int: [UInt8]].self, [Kind: Bool].self,
        Shelf.self, Table<Int, Mode>.self, Newtype<Table<Int, Newtype<Row>>>.self, Newtype<[Newtype<Mode>?]>.self,
        Set<Int>.self, [Set<String>].self, [Row?].self, [String?: [Double]].self, String.self, Int.self, Float.self,
    ]
}
