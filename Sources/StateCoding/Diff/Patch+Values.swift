extension Patch {
    /// The difference of two untyped values: the reference for the typed one, which only takes a shorter way to it.
    public init(from old: Value, to new: Value) {
        self = Self.difference(from: old, to: new) ?? .none
    }

    /// `nil` if the values are equal.
    ///
    /// - Parameter isTrial: Whether only the length is asked for, which may then be longer than need be.
    static func difference(from old: Value, to new: Value, isTrial: Bool = false) -> Patch? {
        switch (old, new) {
        case (.map(let old), .map(let new)): return difference(from: old, to: new, isTrial)
        case (.array(let old), .array(let new)): return difference(from: old, to: new, isTrial)
        default: return old == new ? nil : .replace(new)
        }
    }

    private static func difference(from old: [Value], to new: [Value], _ isTrial: Bool) -> Patch? {
        var arrays = ArrayDifference(
            ArrayAlignment(old: old, new: new, same: ==),
            path: .root,
            withSummary: false,
            isTrial: isTrial,
            tree: { element, _ in element },
            change: { old, new, _, isTrial in
                difference(from: old, to: new, isTrial: isTrial).map { Change(patch: $0, summary: SummaryChange()) }
            }
        )
        do { return try arrays.change()?.patch } catch {
            preconditionFailure("trees were compared, and nothing encoded, but that failed: \(error)")
        }
    }

    private static func difference(from old: ValueMap, to new: ValueMap, _ isTrial: Bool) -> Patch? {
        var fields = KeyedEntries<FieldChange>()
        var removed = 0
        ValueMap.Entries.differences(from: old.entries, to: new.entries) { key, before, after in
            switch (before, after) {
            case (let before?, let after?):
                if let patch = difference(from: before, to: after, isTrial: isTrial) {
                    fields.append(key, .change(patch))
                }
            case (nil, let after?): fields.append(key, .change(.replace(after)))
            case (_, nil):
                fields.append(key, .remove)
                removed += 1
            }
        }
        if fields.count == 0 { return nil }
        // Nothing stayed: an enum that changed its case, above all, whose two keys must never be there at once.
        if removed == old.count && !old.isEmpty { return .replace(.map(new)) }
        return Patch(.fields(fields))
    }
}
