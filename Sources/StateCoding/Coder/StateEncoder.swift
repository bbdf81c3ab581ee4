/// Turns any `Encodable` value into CBOR, deterministically: one value has the same bytes in each process, whatever order
/// its dictionaries and sets have there. (A text keeps its spelling and a zero its sign, save in keys.)
///
/// ```swift
/// let bytes = try StateEncoder().encode(fleet)
/// ```
///
/// Structs are maps with their coding keys (the names) as texts; dictionaries are maps with encoded keys, sets arrays
/// sorted by encoding, `[UInt8]` a byte string. A `nil` field is left out, a `nil` element is null.
public struct StateEncoder: Sendable {
    /// What is made at most, so that a decoder with the same limits takes it.
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
        // What was written is within the limits.
        try Value(decoding: encode(value), limits: CodingLimits(depthMax: .max))
    }

    /// Checks that all of the encoded tree are values.
    ///
    /// A class instance can change without its old copy differing, so that its changes would never be published. What is
    /// not there yet (rows, `nil` fields) is checked by the types that `init(from:)` asks for when it reads default values.
    /// The ``Differ`` refuses any other instance when it appears. Costs an encoding: do it once, at start.
    ///
    /// - Throws: `unencodable`, with the path of the first class; without the elements on it, where there are none.
    public func checkValueSemantics(of value: some Encodable) throws(CodingFailure) {
        _ = try encode(value, refusesClasses: true)
        if let decodable = type(of: value) as? any Decodable.Type {
            try Defaults.checkValueSemantics(of: decodable)
        }
    }

    private func encode<T: Encodable>(_ value: T, refusesClasses: Bool) throws(CodingFailure) -> [UInt8] {
        do {
            return try EncodingOutput.run(refusesClasses: refusesClasses) { output in
                try encodeItem(value, into: output, under: nil, in: output.root(limits))
                return output.writer.bytes
            }
        } catch {
            throw CodingFailure(error, path: [])
        }
    }
}
