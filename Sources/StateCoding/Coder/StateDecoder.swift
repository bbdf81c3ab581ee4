/// Decodes typed values from CBOR, or from the untyped tree.
///
/// Values that ``StateEncoder`` wrote come back as they were. If a type cannot be read otherwise, other forms are
/// accepted where nothing is lost, as in JSON: integral floats as integers, texts as dates, bytes, decimals and other
/// values that JSON has no form for; integers always serve as floats. A number that does not fit is an error. Keys that
/// a type does not know are ignored. Failures name the field: `step: expected an integer, got text "abc"`.
public struct StateDecoder: Sendable {
    /// The limits of the input.
    public var limits: CodingLimits

    /// A decoder with these limits.
    public init(limits: CodingLimits = .standard) {
        self.limits = limits
    }

    /// Decodes all of the bytes.
    ///
    /// - Throws: the errors of the bytes (`truncated`, `malformed`, `trailingBytes`, ... with an offset) and of the
    ///   fields (`missingKey`, `typeMismatch`, `outOfRange`, `refusedByType`, ... with a path).
    public func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws(CodingFailure) -> T {
        do {
            return try DecodingSource.run(bytes, limits: limits) { try decode(type, from: $0) }
        } catch {
            throw CodingFailure(error, path: [])
        }
    }

    /// Decodes a tree.
    ///
    /// - Throws: the errors of the fields, with a path.
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

/// Decodes any value from the next item.
func decodeItem<T: Decodable>(
    _ type: T.Type,
    _ cursor: inout ItemCursor,
    under key: (any CodingKey)?,
    in node: CodingPathNode
) throws -> T {
    func builtIn<S: BuiltInDecodable>(_ type: S.Type) throws -> T {
        cast(try type.read(&cursor, at: CodingPath(node: node, key: key)), to: T.self)
    }
    if let type = TypeTraits.of(T.self).decodable { return try builtIn(type) }
    return try ItemDecoder.decode(type, &cursor, under: key, in: node)
}

/// A typed value from a part of a tree.
func decodeTree<T: Decodable>(_ type: T.Type, from value: Value, at place: CodingPath) throws -> T {
    // Most replaced values of a patch are primitive, and need no bytes to be decoded from.
    func primitive<P: Primitive>(_ type: P.Type) throws -> T {
        cast(try P.make(of: value) { try decodeEncoded(P.self, from: value, at: place) }, to: T.self)
    }
    if let type = TypeTraits.of(T.self).primitive { return try primitive(type) }
    return try decodeEncoded(type, from: value, at: place)
}

private func decodeEncoded<T: Decodable>(_ type: T.Type, from value: Value, at place: CodingPath) throws -> T {
    try DecodingSource.run(value) { source in
        var cursor = ItemCursor(source: source, offset: 0)
        return try decodeItem(type, &cursor, under: place.key, in: place.node)
    }
}
