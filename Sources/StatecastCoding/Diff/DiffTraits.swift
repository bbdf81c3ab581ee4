/// The properties of a type that the differ asks for repeatedly.
struct DiffTraits {
    let primitive: (any Primitive.Type)?
    let partwise: (any PartwiseDiffable.Type)?
    /// The type, if its `==` says whether a value changed. Not for classes: both sides may be one instance.
    let equatable: (any Equatable.Type)?
    /// Whether the type has a `==` that costs as much as the difference.
    let isSelfComparing: Bool
    /// The type if it is a class, or the first class among the types of its parts. No state may hold a class.
    let classType: Any.Type?

    private static let table = TypeTable<DiffTraits>()

    // Inlined, as most callers need one of the properties and would copy all of them.
    @inline(__always)
    static func of(_ type: Any.Type) -> DiffTraits { table.answer(for: type) { DiffTraits(type) } }

    private init(_ type: Any.Type) {
        let traits = TypeTraits.of(type)
        primitive = traits.primitive
        partwise = traits.encodable as? any PartwiseDiffable.Type
        precondition(
            traits.encodable == nil || primitive != nil || partwise != nil,
            "expected a primitive or a type with parts, got \(type)"
        )
        classType = traits.classType
        equatable = classType == nil ? type as? any Equatable.Type : nil
        isSelfComparing = equatable != nil && type is any SelfComparing.Type
    }
}

/// A built-in type with parts, such as a collection, whose change consists of the changes of its parts.
protocol PartwiseDiffable: BuiltInEncodable {
    /// Writes the change between two values of a part.
    ///
    /// - Returns: Whether there is one; if not, nothing is written.
    static func writeChange(from old: Self, to new: Self, of part: ChangedPart) throws -> Bool
}

/// A collection whose difference costs no more than its `==`, so that comparing it by `==` first saves nothing. Its
/// value is a reference to its storage, so that unchanged copies have the same bytes.
protocol SelfComparing {}

extension Array: SelfComparing {}
extension Dictionary: SelfComparing {}

/// Whether two values of one type are `==`; `nil` if the type has no `==`.
///
/// `SelfComparing` values are not compared: the result is true if they share their storage, else `nil`.
func areEqual<T>(_ left: T, _ right: T) -> Bool? {
    func compare<E: Equatable>(_ type: E.Type) -> Bool {
        cast(left, to: type) == cast(right, to: type)
    }
    let traits = DiffTraits.of(T.self)
    if traits.isSelfComparing {
        let shareStorage = withUnsafePointer(to: left) { left in
            withUnsafePointer(to: right) { right in haveSameBytes(left, right) }
        }
        return shareStorage ? true : nil
    }
    return traits.equatable.map { compare($0) }
}

/// The `==` of a type, for many comparisons; `nil` if it has none.
func equality<T>(of type: T.Type) -> ((T, T) -> Bool)? {
    // The function is cast instead of the values, so that they are compared in place.
    func make<E: Equatable>(_ type: E.Type) -> (T, T) -> Bool {
        let areEqual: (E, E) -> Bool = { $0 == $1 }
        return cast(areEqual, to: ((T, T) -> Bool).self)
    }
    guard let type = type as? any Equatable.Type else { return nil }
    return make(type)
}
