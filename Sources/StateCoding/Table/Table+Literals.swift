extension Table: ExpressibleByDictionaryLiteral {
    /// The table of these rows; a key that comes twice is a programmer's error and traps.
    public init(dictionaryLiteral rows: (Key, Row)...) {
        self.init(uniqueKeysWithValues: rows)
    }
}
