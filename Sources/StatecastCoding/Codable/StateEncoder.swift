/// Encodes any `Encodable` value as CBOR, deterministically: a value has the same bytes in every process, whatever the
/// order of its dictionaries and sets. (A text keeps its spelling and a zero its sign, except in keys.)
///
/// ```swift
/// let bytes = try StateEncoder().encode(fleet)
/// ```
///
/// Structs are maps with their coding keys (the names) as texts; dictionaries are maps with encoded keys, sets arrays
/// sorted by encoding, `[UInt8]` a byte string. A `nil` field is left out, a `nil` element is null.
public struct StateEncoder: Sendable {
    /// The limits of the encoding. A decoder with the same limits accepts it.
    public var limits: CodingLimits

    /// An encoder with these limits.
    public init(limits: CodingLimits = .standard) {
        self.limits = limits
    }

    /// The value in CBOR.
    ///
    /// - Throws: `unencodable`, `tooDeep`, or `refusedByType` for an error of the type's own; each names the field.
    public func encode(_ value: some Encodable) throws(CodingFailure) -> [UInt8] {
        try encode(value, refusesClasses: false)
    }

    /// The value as an untyped tree.
    ///
    /// - Throws: as `encode(_:)`.
    public func value(of value: some Encodable) throws(CodingFailure) -> Value {
        try tree(of: encode(value))
    }

    /// The value as an example of an action's payload, for people: dates are texts.
    ///
    /// - Throws: as `encode(_:)`.
    package func example(of value: some Encodable) throws(CodingFailure) -> Value {
        try tree(of: encode(value, refusesClasses: false, datesAreText: true))
    }

    private func tree(of bytes: [UInt8]) throws(CodingFailure) -> Value {
        // The encoder has checked the limits.
        try Value(decoding: bytes, limits: CodingLimits(maxDepth: .max))
    }

    /// The value in CBOR.
    ///
    /// - Parameters:
    ///   - refusesClasses: Whether a class instance among the parts is an error.
    ///   - datesAreText: Whether dates are written as texts.
    func encode<T: Encodable>(
        _ value: T,
        refusesClasses: Bool,
        datesAreText: Bool = false
    ) throws(CodingFailure) -> [UInt8] {
        do {
            return try EncodingOutput.run(refusesClasses: refusesClasses, datesAreText: datesAreText) { output in
                try encodeItem(value, into: output, under: nil, in: output.root(limits))
                return output.writer.bytes
            }
        } catch {
            throw CodingFailure(error, path: [])
        }
    }
}

/// Encodes any value as one item.
func encodeItem<T: Encodable>(
    _ value: T,
    into output: EncodingOutput,
    under key: (any CodingKey)?,
    in node: CodingPathNode
) throws {
    func builtIn<S: BuiltInEncodable>(_ type: S.Type) throws {
        try cast(value, to: type).write(to: output, at: CodingPath(node: node, key: key))
    }
    let traits = TypeTraits.of(T.self)
    if let type = traits.classType, output.contents.pointee.refusesClasses {
        throw CodingFailure.classInstance(type, at: CodingPath(node: node, key: key))
    }
    if let type = traits.encodable { return try builtIn(type) }
    try ItemEncoder.encode(value, into: output, under: key, in: node)
}

/// Encodes a part of a state as a tree, for patches. Refuses classes, whose changes would go unnoticed.
func encodeTree<T: Encodable>(_ value: T, at place: CodingPath) throws -> Value {
    if let value = value as? any Primitive { return try value.tree(at: place) }
    return try EncodingOutput.run(refusesClasses: true) { output in
        try encodeItem(value, into: output, under: place.key, in: place.node)
        return output.writer.value
    }
}

/// The encoding of a value with the name of its type: an array of both.
package enum NamedEncoding {
    /// The encoded beginnings, by type: deriving a name from a type costs more than encoding a small value.
    // Never freed, so that no references are counted.
    private static let prefixes = TypeTable<UnsafeBufferPointer<UInt8>>()

    /// Encodes a value into memory that is used again, and passes the bytes to `body` instead of copying them.
    ///
    /// - Parameters:
    ///   - name: the name of the type, the same at each call.
    ///   - body: must not encode anything, nor keep the bytes.
    /// - Throws: as ``StateEncoder/encode(_:)``.
    package static func encode<T: Encodable, Result>(
        _ value: T,
        name: @autoclosure () -> String,
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) throws(CodingFailure) -> Result {
        do {
            return try EncodingOutput.run { output in
                let prefix = prefixes.answer(for: T.self) { UnsafeBufferPointer(copying: encode(name: name())) }
                output.writer.encoded(prefix)
                try encodeItem(value, into: output, under: nil, in: output.root(.standard))
                return output.writer.withBytes(body)
            }
        } catch {
            throw CodingFailure(error, path: [])
        }
    }

    /// The encoding from a name and an encoded payload. Without the payload, it is the beginning of each encoding with
    /// that name.
    package static func encode(name: String, payload: [UInt8] = []) -> [UInt8] {
        CBORWriter.bytes(reserving: name.utf8.count + payload.count + 8) { writer in
            writer.array(count: 2)
            writer.text(name)
            writer.encoded(payload)
        }
    }
}
