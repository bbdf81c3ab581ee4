extension FieldCollector {
    /// What changed between the fields of two values of one type; `nil` if nothing did.
    func change(to new: FieldCollector, path: DigestPath) throws -> Change? {
        var changes = PartChanges(path: path)
        var matched = 0
        for index in new.names.indices {
            if let old = self.index(of: new.names[index], near: index) {
                matched += 1
                guard let change = try change(of: old, to: index, in: new, path: path) else { continue }
                changes.change(try new.key(index), change)
            } else {
                changes.insert(try new.key(index), try new.tree(of: index))
            }
        }
        if matched < names.count {
            for index in names.indices where new.index(of: names[index]) == nil {
                changes.remove(try key(index), try tree(of: index))
            }
        }
        if changes.isEmpty { return nil }
        // An enum that changed its case shares no key with what it was: both keys must never be there at once.
        let sharesNothing = matched == 0 && !names.isEmpty
        if sharesNothing || hasDoubles || new.hasDoubles {
            return Change.replacing(try tree(), with: try new.tree(), path: path)
        }
        return try changes.finish(.map, from: names.count, to: new.names.count)
    }

    private func change(
        of old: Int,
        to new: Int,
        in other: FieldCollector,
        path: DigestPath
    ) throws -> Change? {
        switch (contents[old], other.contents[new]) {
        case (.null, .null): return nil
        case (.value(let before), .value(let after)):
            if let compared = try compare(before, after, old, path) { return compared.change }
        case (.fields(let before), .fields(let after)):
            return try before.change(to: after, path: path.key(try key(old)))
        case (.tree(let before), .tree(let after)):
            return Change.replacingWhole(before, with: after, path: path.key(try key(old)))
        default: break
        }
        return Change.replacing(try tree(of: old), with: try other.tree(of: new), path: path.key(try key(old)))
    }

    /// - Returns: `nil` if the types differ.
    private func compare<T: Encodable>(
        _ old: T,
        _ new: any Encodable,
        _ index: Int,
        _ path: DigestPath
    ) throws -> Compared? {
        func compare<U: Encodable>(_ new: U) throws -> Compared? {
            guard U.self == T.self else { return nil }
            // They are one type, which the compiler cannot know.
            let new = unsafeBitCast(new, to: T.self)
            if areEqual(old, new) == true { return Compared(change: nil) }
            let place = Place(node: node, key: DataKey.name(names[index]))
            let path = path.key(try key(index))
            return Compared(change: try changeOfTree(from: old, to: new, at: place, path: path))
        }
        return try compare(new)
    }

    private func key(_ index: Int) throws(CodingFailure) -> Value {
        if names[index].hasTooManyMarks { throw node.failure(.unencodable, CodingFailure.tooManyMarks) }
        return .text(names[index].canonical)
    }

    private func tree(of index: Int) throws -> Value {
        try contents[index].tree(at: Place(node: node, key: DataKey.name(names[index])))
    }

    func tree() throws -> Value {
        .map(ValueMap(try names.indices.map { (try key($0), try tree(of: $0)) }))
    }
}

extension FieldCollector.Content {
    func tree(at place: Place) throws -> Value {
        switch self {
        case .null: .null
        case .value(let value): try encodeTree(value, at: place)
        case .fields(let nested): try nested.tree()
        case .tree(let tree): tree
        }
    }
}
