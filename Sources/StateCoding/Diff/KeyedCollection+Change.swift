extension KeyedCollection {
    static func change(from old: Self, to new: Self, at place: Place, path: DigestPath) throws -> Change? {
        var changes = try KeyedChanges<Key, Content>(at: place, path: path)
        var matched = 0
        for (key, after) in new {
            let before = old[key]
            if before != nil { matched += 1 }
            try changes.add(key, from: before, to: after)
        }
        if matched == 0 && !old.isEmpty { return try replacement(of: old, by: new, at: place, path: path) }
        if matched < old.count {
            for (key, before) in old where new[key] == nil { try changes.add(key, from: before, to: nil) }
        }
        return try changes.finish(from: old.count, to: new.count)
    }

    /// Where nothing stayed. An enum that changed its case looks the same in a tree, and must be replaced.
    static func replacement(of old: Self, by new: Self, at place: Place, path: DigestPath) throws -> Change? {
        Change.replacing(try encodeTree(old, at: place), with: try encodeTree(new, at: place), path: path)
    }
}

/// Gathers the changes of a collection's entries.
struct KeyedChanges<Key: Encodable, Content: Encodable> {
    private let place: Place
    private let node: PathNode
    private let path: DigestPath
    private let areEqual = equality(of: Content.self)
    private var parts: PartChanges

    init(at place: Place, path: DigestPath) throws {
        self.place = place
        self.path = path
        node = try place.open()
        parts = PartChanges(path: path)
    }

    /// What became of one entry.
    mutating func add(_ key: Key, from old: Content?, to new: Content?) throws {
        if let old, let new, areEqual?(old, new) == true { return }
        let tree = try encodeTree(key, at: place).canonical
        let place = Place(node: node, key: EntryKey.of(key))
        if case .float(let number) = tree, number.isNaN { throw place.failure(.unencodable, CBORWriter.keyIsNaN) }
        switch (old, new) {
        case (nil, nil): break
        case (nil, let new?): parts.insert(tree, try encodeTree(new, at: place))
        case (let old?, nil): parts.remove(tree, try encodeTree(old, at: place))
        case (let old?, let new?):
            let change = try changeOfTree(from: old, to: new, at: place, path: path.key(tree))
            if let change { parts.change(tree, change) }
        }
    }

    func finish(from old: Int, to new: Int) throws(CodingFailure) -> Change? {
        try parts.finish(.map, from: old, to: new)
    }
}
