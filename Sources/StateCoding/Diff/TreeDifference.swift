extension Patch {
    /// The difference of two untyped values.
    public init(from old: Value, to new: Value) {
        self = Self.difference(from: old, to: new) ?? .none
    }

    /// `nil` if the values are equal.
    static func difference(from old: Value, to new: Value) -> Patch? {
        switch (old, new) {
        case (.map(let old), .map(let new)): return difference(from: old, to: new)
        case (.array(let old), .array(let new)): return difference(from: old, to: new)
        default: return old == new ? nil : .replace(new)
        }
    }

    private static func difference(from old: [Value], to new: [Value]) -> Patch? {
        var arrays = ArrayDifference(
            from: old,
            to: new,
            path: .root,
            withSummary: false,
            same: ==,
            tree: { element, _ in element },
            change: { old, new, _ in
                difference(from: old, to: new).map { Change(patch: $0, summary: SummaryChange()) }
            }
        )
        do { return try arrays.change()?.patch } catch {
            preconditionFailure("the comparison of trees encodes nothing, but it failed: \(error)")
        }
    }

    private static func difference(from old: ValueMap, to new: ValueMap) -> Patch? {
        var fields = KeyedEntries<FieldChange>()
        var removed = 0
        ValueMap.Entries.differences(from: old.entries, to: new.entries) { key, before, after in
            switch (before, after) {
            case (let before?, let after?):
                if let patch = difference(from: before, to: after) {
                    fields.append(key, .change(patch))
                }
            case (nil, let after?): fields.append(key, .change(.replace(after)))
            case (_, nil):
                fields.append(key, .remove)
                removed += 1
            }
        }
        if fields.count == 0 { return nil }
        // Where no key stayed, the value may be an enum that changed its case, which must never have both keys.
        if removed == old.count && !old.isEmpty { return .replace(.map(new)) }
        return Patch(.fields(fields))
    }
}
