/// A type whose shape in CBOR is decided here, before its own `encode(to:)`: primitives, optionals and collections.
///
/// `Dictionary` and `Set` write themselves in hash order, and a dictionary with other keys than texts and integers as an
/// alternating array; here they are sorted, and every dictionary is a map.
protocol ShapedEncodable: Encodable {
    /// Writes the value as one item.
    func write(to output: EncodingOutput, at place: Place) throws

    /// The types of the parts, for checks that look at types even where there is no instance.
    static var partTypes: [Any.Type] { get }

    /// What changed; `nil` if nothing did. `at` serves errors, `path` digests.
    static func change(from old: Self, to new: Self, at place: Place, path: DigestPath) throws -> Change?
}

extension ShapedEncodable {
    static var partTypes: [Any.Type] { [] }
}

/// The decoding side of `ShapedEncodable`.
protocol ShapedDecodable: Decodable {
    /// Reads the next item, and moves behind it.
    static func read(_ cursor: inout ItemCursor, at place: Place) throws -> Self

    /// A plain instance.
    static var sample: Self { get }
}
