/// The difference of two states: the patch, and the change of the state's summary.
public struct Difference: Hashable, Sendable {
    /// The patch that makes the new state of the old one.
    public let patch: Patch
    let summaryChange: SummaryChange

    /// Whether the states are the same.
    public var isEmpty: Bool { patch.isEmpty }
}

extension Summary {
    /// Advances by a change of the state. Exact if this was the summary of the state that the difference starts from.
    public mutating func advance(by difference: Difference) {
        advance(by: difference.summaryChange)
    }
}

/// Computes the difference of two states, at a cost that follows the change.
///
/// The differ collects the fields of a value, typed, from its own `encode(to:)` and compares them by `==`, which is
/// O(1) for collections that still share their memory. It descends into changed fields only, and encodes only them. A
/// type that is one value in a single-value container is compared as that value. Values without `==`, and types with an
/// unusual `encode(to:)` (unkeyed or super containers), are encoded and compared as trees.
///
/// Values that are `==`, or encode the same, are the same: `-0.0` and `0.0`, two spellings of one text, NaN and NaN.
///
/// Costs: a changed struct its fields; a changed dictionary or set one comparison for each of its elements; a changed
/// array up to ten. Sets, and array elements that a splice moves, are encoded again for the summary.
public enum Differ {
    /// The difference of two states of one type.
    ///
    /// - Throws: as `StateEncoder.encode(_:)`, for the parts that changed; `unencodable` for a class among them, whose
    ///   later changes would go unseen.
    public static func patch<T: Encodable>(
        from old: T,
        to new: T,
        limits: CodingLimits = .standard
    ) throws(CodingFailure) -> Difference {
        let root = CodingPath.root(limits)
        do {
            let change = try PatchWriter.run {
                try ChangedPart(place: root, path: .root, writer: $0).writeChange(from: old, to: new)
            }
            return Difference(patch: change?.patch ?? .none, summaryChange: change?.summary ?? SummaryChange())
        } catch {
            throw CodingFailure(error, at: root)
        }
    }
}

/// A part of the state whose change is written.
struct ChangedPart {
    /// The place that errors name.
    let place: CodingPath
    let path: DigestPath
    let writer: PatchWriter
}

// The functions return whether there is a change; if not, nothing is written.
extension ChangedPart {
    /// Writes the change between two values of any type.
    func writeChange<T: Encodable>(from old: T, to new: T) throws -> Bool {
        func primitive<P: Primitive>(_ type: P.Type) throws -> Bool {
            try replace(cast(old, to: type), with: cast(new, to: type))
        }
        func partwise<P: PartwiseDiffable>(_ type: P.Type) throws -> Bool {
            try P.writeChange(from: cast(old, to: type), to: cast(new, to: type), of: self)
        }
        let traits = DiffTraits.of(T.self)
        if let type = traits.classType { throw CodingFailure.classInstance(type, at: place) }
        if let type = traits.primitive { return try primitive(type) }
        if let type = traits.partwise { return try partwise(type) }
        let (before, after) = (try FieldCollector(of: old, at: place), try FieldCollector(of: new, at: place))
        if before.isPlain && after.isPlain {
            return try before.writeChange(to: after, path: path, by: writer)
        }
        if let old = before.newtypeContent, let new = after.newtypeContent,
            let isChanged = try Self.writeCompared(old, new, at: place, by: writer, within: { try $0(path) })
        {
            return isChanged
        }
        return writer.replaceWhole(try encodeTree(old, at: place), with: try encodeTree(new, at: place), path: path)
    }

    /// Compares two values, first by `==`, and writes the change.
    ///
    /// - Parameter entry: Writes what comes before the change, and calls its argument with the path of the values.
    /// - Returns: `nil` if the types differ.
    static func writeCompared<T: Encodable>(
        _ old: T,
        _ new: any Encodable,
        at place: CodingPath,
        by writer: PatchWriter,
        within entry: ((DigestPath) throws -> Bool) throws -> Bool
    ) throws -> Bool? {
        func compare<U: Encodable>(_ new: U) throws -> Bool? {
            guard U.self == T.self else { return nil }
            let new = cast(new, to: T.self)
            if areEqual(old, new) == true { return false }
            return try entry { try ChangedPart(place: place, path: $0, writer: writer).writeChange(from: old, to: new) }
        }
        return try compare(new)
    }

    /// Writes a patch of what differs in the encodings of two values.
    func writeDifferenceOfTrees<T: Encodable>(from old: T, to new: T) throws -> Bool {
        try writer.writeDifference(from: try encodeTree(old, at: place), to: try encodeTree(new, at: place), path: path)
    }

    /// Replaces a primitive value.
    func replace<P: Primitive>(_ old: P, with new: P) throws -> Bool {
        guard writer.replace(old, with: new, path: path) else { return false }
        guard new.isReadable else { throw place.failure(.unencodable, CodingFailure.tooManyMarks) }
        return true
    }
}

// MARK: Types

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
extension Table: SelfComparing {}

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
