extension FieldCollector {
    /// What changed between the fields of two values of one type; `nil` if nothing did.
    func change(to new: FieldCollector, path: DigestPath) throws -> Change? {
        var changes = PartChanges(path: path)
        var matched = 0
        for (position, field) in new.fields.enumerated() {
            if let old = self.field(field.name, near: position) {
                matched += 1
                guard let change = try change(of: old, to: field, in: new, path: path) else { continue }
                changes.change(field.key, change)
            } else {
                changes.insert(field.key, try new.tree(of: field))
            }
        }
        if matched < fields.count {
            for field in fields where new.field(field.name, near: 0) == nil {
                changes.remove(field.key, try tree(of: field))
            }
        }
        if changes.isEmpty { return nil }
        // An enum that changed its case shares no key with what it was: both keys must never be there at once.
        let sharesNothing = matched == 0 && !fields.isEmpty
        if sharesNothing || hasDoubles || new.hasDoubles {
            return Change.replacing(try tree(), with: try new.tree(), path: path)
        }
        return try changes.finish(.map, from: fields.count, to: new.fields.count)
    }

    private func change(
        of old: Field,
        to new: Field,
        in other: FieldCollector,
        path: DigestPath
    ) throws -> Change? {
        switch (old.content, new.content) {
        case (.null, .null): return nil
        case (.value(let before), .value(let after)):
            if let compared = try compare(before, after, new, path) { return compared.change }
        case (.fields(let before), .fields(let after)):
            return try before.change(to: after, path: path.key(new.key))
        default: break
        }
        return Change.replacing(try tree(of: old), with: try other.tree(of: new), path: path.key(new.key))
    }

    /// The outcome of comparing two values of one type.
    private struct Compared { let change: Change? }

    /// - Returns: `nil` if the types differ.
    private func compare<T: Encodable>(
        _ old: T,
        _ new: any Encodable,
        _ field: Field,
        _ path: DigestPath
    ) throws -> Compared? {
        guard type(of: new) == T.self, let new = new as? T else { return nil }
        if areEqual(old, new) == true { return Compared(change: nil) }
        let place = Place(node: node, key: DataKey.name(field.name))
        return Compared(change: try changeOfTree(from: old, to: new, at: place, path: path.key(field.key)))
    }

    /// The field of a name. Two values of one type mostly have their fields at the same positions.
    private func field(_ name: String, near position: Int) -> Field? {
        if position < fields.count, fields[position].name == name { return fields[position] }
        return fields.first { $0.name == name }
    }

    /// Whether a name comes twice, which leaves the later one in the encoding.
    private var hasDoubles: Bool {
        for (position, field) in fields.enumerated() {
            for other in fields[(position + 1)...] where other.name == field.name { return true }
        }
        return false
    }

    private func tree(of field: Field) throws -> Value {
        let place = Place(node: node, key: DataKey.name(field.name))
        switch field.content {
        case .null: return .null
        case .value(let value): return try encodeTree(value, at: place)
        case .fields(let nested): return try nested.tree()
        }
    }

    private func tree() throws -> Value {
        .map(ValueMap(try fields.map { (.text($0.name), try tree(of: $0)) }))
    }
}
