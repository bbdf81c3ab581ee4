/// The difference of two states: the patch, and what it does to the state's summary.
public struct Difference: Hashable, Sendable {
    /// What makes the new state of the old one.
    public let patch: Patch
    let summaryChange: SummaryChange

    /// Whether the states are the same.
    public var isEmpty: Bool { patch.isEmpty }
}

/// Finds what changed between two states, at a cost that follows the change.
///
/// The fields of a value are collected, typed, from its own `encode(to:)` and compared by `==`, which is O(1) for
/// collections that still share their memory. Only what changed is gone into and encoded. A type that is one value in a
/// single-value container is compared as that value. Values without `==`, and types with an unusual `encode(to:)` (unkeyed
/// or super containers), are encoded and compared as trees.
///
/// What is `==`, or encodes the same, is the same: `-0.0` and `0.0`, two spellings of one text, NaN and NaN.
///
/// Costs: a changed struct its fields; a changed dictionary, set or array one comparison for each of its elements. A
/// splice that moves the elements behind it, and a set, are encoded anew for the summary.
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
        let root = Place.root(limits)
        do {
            let change = try changeOfTree(from: old, to: new, at: root, path: .root)
            return Difference(patch: change?.patch ?? .none, summaryChange: change?.summary ?? SummaryChange())
        } catch {
            throw CodingFailure(error, at: root)
        }
    }
}

/// The change of any part; `nil` if there is none.
func changeOfTree<T: Encodable>(from old: T, to new: T, at place: Place, path: DigestPath) throws -> Change? {
    func shaped<S: ShapedEncodable>(_ type: S.Type) throws -> Change? {
        // S is T, which the compiler cannot know.
        let (old, new) = (unsafeBitCast(old, to: S.self), unsafeBitCast(new, to: S.self))
        return try S.change(from: old, to: new, at: place, path: path)
    }
    let known = ShapedTypes.answer(for: T.self)
    if let type = known.classType { throw CodingFailure.classInstance(type, at: place) }
    if let type = known.encodable { return try shaped(type) }
    let (before, after) = (try FieldCollector(of: old, at: place), try FieldCollector(of: new, at: place))
    if before.isPlain && after.isPlain {
        return try before.change(to: after, path: path)
    }
    if let old = before.newtypeContent, let new = after.newtypeContent,
        let compared = try compareContents(old, new, at: place, path: path)
    {
        return compared.change
    }
    return Change.replacingWhole(try encodeTree(old, at: place), with: try encodeTree(new, at: place), path: path)
}
