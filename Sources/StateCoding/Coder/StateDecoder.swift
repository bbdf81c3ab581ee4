/// Makes typed values of CBOR, or of the untyped tree.
///
/// Tolerant where that is exact: integers serve as floats, integral floats as integers, a number that does not fit is
/// an error. Keys that a type does not know are ignored. Failures name the field: `step: expected an integer, got text
/// "abc"`.
public struct StateDecoder: Sendable {
    /// What is accepted at most.
    public var limits: CodingLimits

    /// A decoder with these limits.
    public init(limits: CodingLimits = .standard) {
        self.limits = limits
    }

    /// Decodes all of the bytes.
    ///
    /// - Throws: what is wrong with the bytes (`truncated`, `malformed`, `trailingBytes`, ... with their offset) or with
    ///   a field (`missingKey`, `typeMismatch`, `outOfRange`, `refusedByType`, ... with its path).
    public func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws(CodingFailure) -> T {
        try decode(type, from: try DecodingSource(bytes, limits: limits))
    }

    /// Decodes a tree.
    ///
    /// - Throws: what is wrong with a field, with its path.
    public func decode<T: Decodable>(_ type: T.Type, from value: Value) throws(CodingFailure) -> T {
        try decode(type, from: DecodingSource(value))
    }

    private func decode<T: Decodable>(_ type: T.Type, from source: DecodingSource) throws(CodingFailure) -> T {
        let root = Place.root(limits)
        var cursor = ItemCursor(source: source, offset: 0)
        do { return try decodeItem(type, &cursor, under: nil, in: root.node) } catch {
            throw CodingFailure(error, at: root)
        }
    }
}

extension Value {
    /// The value of CBOR bytes, all of them.
    ///
    /// - Throws: `truncated`, `malformed`, `tooDeep`, `trailingBytes`, ...
    public init(decoding bytes: [UInt8], limits: CodingLimits = .standard) throws(CodingFailure) {
        var reader = CBORReader(bytes, limits: limits)
        self = try reader.value()
        try reader.requireEnd()
    }
}
