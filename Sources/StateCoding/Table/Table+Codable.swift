/// For coders from elsewhere, the table is written as the dictionary of its rows.
extension Table: Encodable where Key: Encodable, Row: Encodable {
    /// Writes the rows as `Dictionary` does.
    public func encode(to encoder: any Encoder) throws {
        try Dictionary(uniqueKeysWithValues: tree.lazy.map { ($0.key, $0.element) }).encode(to: encoder)
    }
}

extension Table: Decodable where Key: Decodable, Row: Decodable {
    /// Reads rows as `Dictionary` does.
    public init(from decoder: any Decoder) throws {
        self.init(try [Key: Row](from: decoder))
    }
}
