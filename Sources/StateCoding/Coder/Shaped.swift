/// A type whose shape in CBOR is decided here, before its own `encode(to:)`: primitives, optionals and collections.
///
/// `Dictionary` and `Set` write themselves in hash order, and a dictionary with other keys than texts and integers as an
/// alternating array; here they are sorted, and every dictionary is a map.
protocol ShapedEncodable: Encodable {
    /// The value as a tree.
    func shape(at place: Place) throws -> Value

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
    static func unshape(_ value: Value, at place: Place) throws -> Self

    /// What the type looks like, for schemas.
    static func schemaShape(in probe: SchemaProbe) -> SchemaShape
    /// A plain instance.
    static var sample: Self { get }
}

/// Where every value of a tree passes on its way in.
func encodeTree<T: Encodable>(_ value: T, at place: Place) throws -> Value {
    if place.context.refusesClasses { try refuseClasses(T.self, at: place) }
    if let shaped = value as? any ShapedEncodable { return try shaped.shape(at: place) }
    let encoder = TreeEncoder(place: place)
    do {
        try value.encode(to: encoder)
    } catch {
        throw CodingFailure(error, at: place)
    }
    return try encoder.finish()
}

/// Where every value of a tree passes on its way out.
func decodeTree<T: Decodable>(_ type: T.Type, from value: Value, at place: Place) throws -> T {
    func unshape<S: ShapedDecodable>(_ type: S.Type) throws -> S { try type.unshape(value, at: place) }
    if let shaped = type as? any ShapedDecodable.Type {
        guard let result = try unshape(shaped) as? T else {
            throw place.failure(.typeMismatch, "expected \(type), got \(value.summary)")
        }
        return result
    }
    do {
        return try T(from: TreeDecoder(value: value, place: place))
    } catch {
        throw CodingFailure(error, at: place)
    }
}

private func refuseClasses(_ type: Any.Type, at place: Place) throws(CodingFailure) {
    if type is AnyObject.Type {
        let advice = "its changes cannot be seen; make it a struct"
        throw place.failure(.unencodable, "\(type) is a class: \(advice)")
    }
    if let shaped = type as? any ShapedEncodable.Type {
        for part in shaped.partTypes { try refuseClasses(part, at: place) }
    }
}
