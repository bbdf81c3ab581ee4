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
            let change = try changeOfTree(from: old, to: new, at: root, path: .root)
            return Difference(patch: change?.patch ?? .none, summaryChange: change?.summary ?? SummaryChange())
        } catch {
            throw CodingFailure(error, at: root)
        }
    }
}

/// The change of any part; `nil` if nothing changed.
func changeOfTree<T: Encodable>(from old: T, to new: T, at place: CodingPath, path: DigestPath) throws -> Change? {
    func primitive<P: Primitive>(_ type: P.Type) throws -> Change? {
        Change.replacing(cast(old, to: type).tree, with: try cast(new, to: type).tree(at: place), path: path)
    }
    func partwise<P: PartwiseDiffable>(_ type: P.Type) throws -> Change? {
        try P.change(from: cast(old, to: type), to: cast(new, to: type), at: place, path: path)
    }
    let traits = DiffTraits.of(T.self)
    if let type = traits.classType { throw CodingFailure.classInstance(type, at: place) }
    if let type = traits.primitive { return try primitive(type) }
    if let type = traits.partwise { return try partwise(type) }
    let (before, after) = (try FieldCollector(of: old, at: place), try FieldCollector(of: new, at: place))
    if before.isPlain && after.isPlain {
        return try before.change(to: after, path: path)
    }
    if let old = before.newtypeContent, let new = after.newtypeContent,
        let compared = try Compared.comparing(old, new, at: place, path: path)
    {
        return compared.change
    }
    return Change.replacingWhole(try encodeTree(old, at: place), with: try encodeTree(new, at: place), path: path)
}

/// The change of one part of a state: the patch of that part, and the change of the summary of the whole.
struct Change {
    var patch: Patch
    var summary: SummaryChange

    /// The change between two trees; `nil` if they are equal.
    static func replacing(_ old: Value, with new: Value, path: DigestPath) -> Change? {
        Patch.difference(from: old, to: new).map { Change($0, from: old, to: new, path: path) }
    }

    /// The change of a part whose type has its own `encode(to:)`. It may encode equal values in different orders (a set
    /// that gets the encoder does), so that a patch of its parts would only fit the value that it was made from.
    static func replacingWhole(_ old: Value, with new: Value, path: DigestPath) -> Change? {
        old == new ? nil : Change(.replace(new), from: old, to: new, path: path)
    }

    private init(_ patch: Patch, from old: Value, to new: Value, path: DigestPath) {
        var summary = SummaryChange()
        summary.remove(old, at: path)
        summary.add(new, at: path)
        self.init(patch: patch, summary: summary)
    }

    init(patch: Patch, summary: SummaryChange) {
        self.patch = patch
        self.summary = summary
    }
}

/// The result of comparing two values of one type.
struct Compared {
    let change: Change?

    /// Compares two values, first by `==`.
    ///
    /// - Returns: `nil` if their types differ.
    static func comparing<T: Encodable>(
        _ old: T,
        _ new: any Encodable,
        at place: @autoclosure () -> CodingPath,
        path: @autoclosure () throws -> DigestPath
    ) throws -> Compared? {
        func comparing<U: Encodable>(_ new: U) throws -> Compared? {
            guard U.self == T.self else { return nil }
            let new = cast(new, to: T.self)
            if areEqual(old, new) == true { return Compared(change: nil) }
            return Compared(change: try changeOfTree(from: old, to: new, at: place(), path: path()))
        }
        return try comparing(new)
    }
}

/// Collects the changes of a container's parts.
struct PartChanges {
    private var entries: [(key: Value, element: Patch.FieldChange)] = []
    private(set) var summary = SummaryChange()
    let path: DigestPath

    init(path: DigestPath) {
        self.path = path
    }

    mutating func insert(_ key: Value, _ value: Value) {
        entries.append((key, .change(.replace(value))))
        summary.add(value, under: key, in: path)
    }

    mutating func remove(_ key: Value, _ value: Value) {
        entries.append((key, .remove))
        summary.remove(value, under: key, in: path)
    }

    mutating func change(_ key: Value, _ change: Change) {
        entries.append((key, .change(change.patch)))
        summary.combine(change.summary)
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The change of the container; `nil` if nothing changed.
    ///
    /// - Throws: `duplicateKey`.
    func finish(_ container: SummaryChange.Container, from old: Int, to new: Int) throws(CodingFailure) -> Change? {
        guard !entries.isEmpty else { return nil }
        var summary = summary
        summary.resize(container, from: old, to: new, at: path)
        return Change(patch: Patch(.fields(try KeyedEntries(canonical: entries))), summary: summary)
    }
}
