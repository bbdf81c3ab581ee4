/// Decodes typed values from CBOR, or from the untyped tree.
///
/// Values that ``StateEncoder`` wrote come back as they were, also if a type tries several types in turn. Integers
/// serve as floats. A number that does not fit is an error. Keys that a type does not know are ignored. Failures name
/// the field: `step: expected an integer, got text "abc"`.
public struct StateDecoder: Sendable {
    /// The limits of the input.
    public var limits: CodingLimits
    /// Whether forms of JSON are accepted for values that JSON cannot express: an integral float as an integer, text as
    /// a date, bytes or a decimal, text as a key of another type. A value that cannot be decoded otherwise is then
    /// decoded once more.
    ///
    /// For values from people and tools, as the payloads of actions. States, snapshots and patches are decoded without
    /// it: a type that tries several types in turn would get another one than was encoded.
    public var acceptsJSONForms: Bool

    /// A decoder with these limits, which accepts the forms of JSON only on request.
    public init(limits: CodingLimits = .standard, acceptsJSONForms: Bool = false) {
        self.limits = limits
        self.acceptsJSONForms = acceptsJSONForms
    }

    /// Decodes all of the bytes.
    ///
    /// - Throws: the errors of the bytes (`truncated`, `malformed`, `trailingBytes`, ... with an offset) and of the
    ///   fields (`missingKey`, `typeMismatch`, `outOfRange`, `refusedByType`, ... with a path).
    public func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws(CodingFailure) -> T {
        do {
            return try DecodingSource.run(bytes, limits: limits, acceptsJSONForms: acceptsJSONForms) {
                try decode(type, from: $0)
            }
        } catch {
            throw CodingFailure(error, path: [])
        }
    }

    /// Decodes a tree.
    ///
    /// - Throws: the errors of the fields, with a path.
    public func decode<T: Decodable>(_ type: T.Type, from value: Value) throws(CodingFailure) -> T {
        do {
            return try DecodingSource.run(value, acceptsJSONForms: acceptsJSONForms) { try decode(type, from: $0) }
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

/// A typed value from a part of a tree, in the form in which it is written.
func decodeTree<T: Decodable>(
    _ type: T.Type,
    from value: Value,
    acceptsJSONForms: Bool = false,
    at place: CodingPath
) throws -> T {
    try DecodingSource.run(value, acceptsJSONForms: acceptsJSONForms) { source in
        var cursor = ItemCursor(source: source, offset: 0)
        return try decodeItem(type, &cursor, under: place.key, in: place.node)
    }
}

/// Lends the items in an array of bytes to a closure, to be decoded one after another: payloads of actions, which may
/// come from JSON.
///
/// All of them use one source with its spare decoders, which otherwise each value acquires and releases. Every item is
/// decoded, and fails, as a `StateDecoder` that accepts the forms of JSON decodes a copy of its bytes; offsets in
/// failures count from its start.
package struct ItemBuffer: ~Copyable {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let decoder: StateDecoder
    private let source: Source

    /// The source of the items that are still to come. An object, because a borrowed buffer replaces it.
    private final class Source {
        // One item at a time is decoded, so dynamic exclusivity checks would find nothing.
        @exclusivity(unchecked) var current = DecodingSource.acquire()

        deinit { DecodingSource.release(current) }
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>, limits: CodingLimits) {
        self.bytes = bytes
        decoder = StateDecoder(limits: limits, acceptsJSONForms: true)
        source = Source()
    }

    /// Calls `body` with the items in `bytes`. Ranges count from the start of the slice.
    package static func withItems<Result, Failure>(
        _ bytes: ArraySlice<UInt8>,
        limits: CodingLimits = .standard,
        _ body: (borrowing ItemBuffer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBufferPointer { bytes throws(Failure) in try body(ItemBuffer(bytes, limits: limits)) }
    }

    /// Decodes the item that fills a range.
    ///
    /// - Throws: as `StateDecoder.decode(_:from:)`.
    package borrowing func decode<T: Decodable>(_ type: T.Type, at range: Range<Int>) throws(CodingFailure) -> T {
        let item = UnsafeBufferPointer(rebasing: bytes[range])
        guard DeterministicCheck.passes(item, decoder.limits) else {
            return try decoder.decode(type, from: Array(item))
        }
        do {
            return try DecodingSource.run(&source.current, item, acceptsJSONForms: true) {
                try decoder.decode(type, from: $0)
            }
        } catch {
            throw CodingFailure(error, path: [])
        }
    }

    /// Whether a range begins with some bytes.
    package borrowing func hasPrefix(_ prefix: [UInt8], at range: Range<Int>) -> Bool {
        let item = UnsafeBufferPointer(rebasing: bytes[range])
        guard let start = item.baseAddress, item.count >= prefix.count else { return prefix.isEmpty }
        return byteOrder(start, prefix, prefix.count) == 0
    }

    /// A copy of a range.
    package borrowing func copy(of range: Range<Int>) -> [UInt8] { Array(bytes[range]) }
}
