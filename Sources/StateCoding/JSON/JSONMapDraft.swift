/// A map while operations change it: what it was, and the keys that differ.
final class JSONMapDraft {
    /// With its tags, if it has any.
    let original: Value
    private let map: ValueMap
    private var keys: JSONKeys
    /// What was gone into or set; `nil` was removed.
    private var parts: [Value: JSONDraft?] = [:]

    init(_ map: ValueMap, original: Value) {
        self.map = map
        self.original = original
        keys = JSONKeys(map)
    }

    func part(_ name: String) throws(CodingFailure) -> JSONDraft {
        let key = try existing(name)
        if let part = parts[key] ?? nil { return part }
        guard let value = map[key] else { preconditionFailure("the key \(key) is there, and has no value") }
        let part = JSONDraft(original: value, value)
        parts[key] = part
        return part
    }

    func set(_ value: Value, _ name: String) {
        let key = key(name) ?? keys.new(name)
        parts[key] = JSONDraft(original: map[key], value)
    }

    func remove(_ name: String) throws(CodingFailure) {
        let key = try existing(name)
        parts.updateValue(nil, forKey: key)
    }

    private func isThere(_ key: Value) -> Bool {
        if let part = parts[key] { part != nil } else { map[key] != nil }
    }

    private func key(_ name: String) -> Value? {
        keys.existing(name, isThere: isThere)
    }

    private func existing(_ name: String) throws(CodingFailure) -> Value {
        guard let key = key(name) else {
            throw CodingFailure(.patchMismatch, "expected the key \(Value.text(name).summary) to be there")
        }
        return key
    }

    var value: Value {
        var entries = map.entries
        let changed = parts.map { (key: $0.key, element: $0.value?.value) }
        entries.merge(changed.sorted { $0.key.precedes($1.key) })
        return original.retagging(.map(ValueMap(entries: entries)))
    }

    var change: Patch? {
        // A patch never goes into a tagged value.
        guard !original.isTagged else { return value == original ? nil : .replace(value) }
        var changes: [(key: Value, element: Patch.FieldChange?)] = []
        var removed = 0
        for (key, part) in parts {
            switch (map[key], part) {
            case (nil, nil): break
            case (.some, nil):
                removed += 1
                changes.append((key, .remove))
            case (nil, let part?): changes.append((key, .change(.replace(part.value))))
            case (.some, let part?):
                if let change = part.change { changes.append((key, .change(change))) }
            }
        }
        if changes.isEmpty { return nil }
        // Nothing stayed: an enum that changed its case, whose two keys must never be there at once.
        if removed == map.count && removed > 0 { return .replace(value) }
        var fields = KeyedEntries<Patch.FieldChange>()
        fields.merge(changes.sorted { $0.key.precedes($1.key) })
        return Patch(.fields(fields))
    }
}
