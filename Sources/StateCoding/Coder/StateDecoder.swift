/// Makes typed values of CBOR, or of the untyped tree.
///
/// What ``StateEncoder`` wrote comes back as it was. What others write, as in JSON, is tolerated where nothing is lost, if
/// the type cannot be read otherwise: integral floats as integers, texts as dates, bytes, decimals and other things that
/// JSON has no form for; integers always serve as floats. A number that does not fit is an error. Keys that a type does not know are ignored. Failures name the field: `step: expected an integer, got text
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
        do {
            return try DecodingSource.run(bytes, limits: limits) { try decode(type, from: $0) }
        } catch {
            throw CodingFailure(error, path: [])
        }
    }

    /// Decodes a tree.
    ///
    /// - Throws: what is wrong with a field, with its path.
    public func decode<T: Decodable>(_ type: T.Type, from value: Value) throws(CodingFailure) -> T {
        do {
            return try DecodingSource.run(value) { try decode(type, from: $0) }
        } catch {
            throw CodingFailure(error, path: [])
        }
    }

    func decode<T: Decodable>(_ type: T.Type, from source: DecodingSource) throws -> T {
        var cursor = ItemCursor(source: source, offset: 0)
        return try decodeItem(type, &cursor, under: nil, in: source.root(limits))
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
