extension Patch {
    /// The difference of two untyped values: the reference for the typed one, which only takes a shorter way to it.
    public init(from old: Value, to new: Value) {
        self = Self.difference(from: old, to: new) ?? .none
    }

    /// `nil` if the values are equal.
    static func difference(from old: Value, to new: Value) -> Patch? {
        switch (old, new) {
        case (.map(let old), .map(let new)): return difference(from: old, to: new)
        case (.array(let old), .array(let new)):
            switch ArrayEdit(from: old, to: new, by: ==) {
            case nil: return nil
            case .splices(let splices)?: return .splices(splices) { Array(new[$0]) }
            case .elements(let range)?:
                var fields = KeyedEntries<FieldChange>()
                for index in range {
                    guard let patch = difference(from: old[index], to: new[index]) else { continue }
                    fields.append(Value(index), .change(patch))
                }
                return Patch(.fields(fields))
            }
        default: return old == new ? nil : .replace(new)
        }
    }

    private static func difference(from old: ValueMap, to new: ValueMap) -> Patch? {
        var fields = KeyedEntries<FieldChange>()
        var removed = 0
        ValueMap.Entries.differences(from: old.entries, to: new.entries) { key, before, after in
            switch (before, after) {
            case (let before?, let after?):
                if let patch = difference(from: before, to: after) { fields.append(key, .change(patch)) }
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
