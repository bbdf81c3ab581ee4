/// The difference of two states, shaped like the state: only what changed, where it changed.
///
/// On the wire (CBOR) a patch is one of
/// - a map `{key: patch, ...}`: goes down, into a map by key, into an array by index. `null` in the place of a patch
///   removes the key, if it is there; a key that is absent in the target and carries a replacement is inserted. The
///   empty map changes nothing;
/// - `[value]`: replaces;
/// - `[patch, patch]`: the first, then the second;
/// - `[offset, removedCount, [value, ...]]`: takes elements out of an array, and puts others in their place.
///
/// Patches say absolutely what is, not by how much it changed: applying one twice in a row is safe, save for splices.
public struct Patch: Hashable, Sendable {
    enum Form: Hashable, Sendable {
        case replace(Value)
        case fields(KeyedEntries<FieldChange>)
        case splice(Splice)
        /// Two or more, one after the other; none of them a sequence.
        case sequence([Patch])
    }

    enum FieldChange: Hashable, Sendable {
        case remove
        case change(Patch)
    }

    struct Splice: Hashable, Sendable {
        var offset: Int
        var removed: Int
        var inserted: [Value]

        /// Half of what an `Int` holds: two indexes can be added.
        static let indexMax = Int.max / 2

        /// Where the removed elements end, before.
        var removedEnd: Int { offset + removed }
        /// Where the inserted elements end, after.
        var insertedEnd: Int { offset + inserted.count }
    }

    var form: Form

    init(_ form: Form) {
        self.form = form
    }

    /// Changes nothing.
    public static let none = Patch(.fields(KeyedEntries()))

    /// Replaces the whole value.
    public static func replace(_ value: Value) -> Patch {
        Patch(.replace(value))
    }

    static func splice(_ offset: Int, _ removed: Int, _ inserted: [Value]) -> Patch {
        Patch(.splice(Splice(offset: offset, removed: removed, inserted: inserted)))
    }

    static func sequence(_ patches: [Patch]) -> Patch {
        let parts = patches.flatMap(\.parts).filter { !$0.isEmpty }
        return parts.count > 1 ? Patch(.sequence(parts)) : parts.first ?? .none
    }

    /// Whether the patch changes nothing.
    public var isEmpty: Bool {
        guard case .fields(let fields) = form else { return false }
        return fields.count == 0
    }

    /// Whether the patch replaces the whole value.
    var isReplacement: Bool {
        if case .replace = form { return true }
        return false
    }

    /// Whether the patch is a sequence that replaces the whole value on the way.
    var replacesInBetween: Bool {
        guard case .sequence(let parts) = form else { return false }
        return parts.contains(where: \.isReplacement)
    }

    /// The patches to apply one after the other.
    var parts: [Patch] {
        guard case .sequence(let parts) = form else { return [self] }
        return parts
    }
}
