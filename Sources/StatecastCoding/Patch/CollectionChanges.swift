extension Optional: PartwiseDiffable where Wrapped: Encodable {
    static func writeChange(from old: Self, to new: Self, of part: ChangedPart) throws -> Bool {
        if let old, let new {
            let start = part.writer.offset
            guard try part.writeChange(from: old, to: new) else { return false }
            if part.writer.isReplacement(at: start), part.writer.output.writer.isNull(at: start + 1) {
                throw part.place.looksAbsent
            }
            return true
        }
        return try part.writeDifferenceOfTrees(from: old, to: new)
    }
}

extension Array: PartwiseDiffable where Element: Encodable {
    static func writeChange(from old: Self, to new: Self, of part: ChangedPart) throws -> Bool {
        guard Element.self != UInt8.self, let same = equality(of: Element.self) else {
            // Elements without `==` are compared as trees.
            return try part.writeDifferenceOfTrees(from: old, to: new)
        }
        let (node, writer) = (try part.place.open(), part.writer)
        var difference = ArrayDifference(
            from: old,
            to: new,
            path: part.path,
            by: writer,
            same: same,
            encode: { element, index in
                try encodeItem(element, into: writer.output, under: DataKey.index(index), in: node)
            },
            writeChange: { old, new, index, path in
                let place = CodingPath(node: node, key: DataKey.index(index))
                return try ChangedPart(place: place, path: path, writer: writer).writeChange(from: old, to: new)
            }
        )
        return try difference.write()
    }
}

extension Set: PartwiseDiffable where Element: Encodable {
    /// A set is an array sorted by encodings.
    static func writeChange(from old: Self, to new: Self, of part: ChangedPart) throws -> Bool {
        if old == new { return false }
        return try part.writeDifferenceOfTrees(from: old, to: new)
    }
}

extension Dictionary: PartwiseDiffable where Key: Encodable, Value: Encodable {
    /// Writes the change between two dictionaries: one comparison for each entry.
    ///
    /// A changed copy keeps the order of its original, but for some entries near an insertion or a removal. So the
    /// entries are compared in step, and a key is looked up only where the orders differ.
    static func writeChange(from old: Self, to new: Self, of part: ChangedPart) throws -> Bool {
        let changes = try EntryChanges<Key, Value>(of: part)
        let (areEqual, oldKeys, oldValues) = (changes.areEqual, old.keys, old.values)
        var (keys, values) = (new.keys.makeIterator(), new.values.makeIterator())
        var (place, matched) = (old.startIndex, 0)
        var removed: [Index] = []
        while let key = keys.next(), let after = values.next() {
            var isInStep = false
            while place != old.endIndex {
                let oldKey = oldKeys[place]
                isInStep = oldKey == key
                if isInStep || new.index(forKey: oldKey) != nil { break }
                removed.append(place)
                old.formIndex(after: &place)
            }
            guard let match = isInStep ? place : old.index(forKey: key) else {
                try changes.insert(key, after)
                continue
            }
            matched += 1
            let before = oldValues[match]
            if areEqual?(before, after) != true { try changes.change(key, from: before, to: after) }
            if place != old.endIndex { old.formIndex(after: &place) }
        }
        // As an untyped value, a map without a key of the old one is indistinguishable from an enum that changed its
        // case, so it must be replaced.
        if matched == 0 && !old.isEmpty {
            changes.rollBack()
            return try part.writeDifferenceOfTrees(from: old, to: new)
        }
        while matched + removed.count < old.count {
            if new.index(forKey: oldKeys[place]) == nil { removed.append(place) }
            old.formIndex(after: &place)
        }
        for place in removed { try changes.remove(oldKeys[place], oldValues[place]) }
        return try changes.finish(from: old.count, to: new.count)
    }
}

extension Table: PartwiseDiffable where Key: Encodable, Row: Encodable {
    /// Compares only the rows of nodes that the two tables do not share.
    static func writeChange(from old: Table, to new: Table, of part: ChangedPart) throws -> Bool {
        let changes = try EntryChanges<Key, Row>(of: part)
        // Most unchanged rows have the same bytes, and other primitive ones are compared once.
        let areEqual = changes.arePrimitive ? { _, _ in false } : changes.areEqual
        try Tree.differences(from: old.tree, to: new.tree, by: areEqual) { key, before, after in
            if let before, let after {
                try changes.change(key, from: before.pointee, to: after.pointee)
            } else if let after {
                try changes.insert(key, after.pointee)
            } else if let before {
                try changes.remove(key, before.pointee)
            }
        }
        return try changes.finish(from: old.count, to: new.count)
    }
}

/// The changes of a collection's entries. An object: a closure that captures a generic struct copies it, and looks up
/// its type for that.
final class EntryChanges<Key: Encodable, Content: Encodable> {
    private let place: CodingPath
    private let node: CodingPathNode
    private let writer: PatchWriter
    private let changes: MapChanges
    /// The `==` of the contents, if they have one.
    let areEqual: ((Content, Content) -> Bool)?
    /// For primitive contents. They are compared when the change is written.
    private let writePrimitive: ((Content, Content, ChangedPart) throws -> Bool)?

    init(of part: ChangedPart) throws {
        // Once for all entries, as looking up the type of each takes time.
        func write<P: Primitive>(_ type: P.Type) -> (Content, Content, ChangedPart) throws -> Bool {
            let write: (P, P, ChangedPart) throws -> Bool = { try $2.replace($0, with: $1) }
            return cast(write, to: ((Content, Content, ChangedPart) throws -> Bool).self)
        }
        place = part.place
        node = try place.open()
        writer = part.writer
        changes = MapChanges(path: part.path, by: writer)
        writePrimitive = DiffTraits.of(Content.self).primitive.map { write($0) }
        areEqual = equality(of: Content.self)
    }

    var arePrimitive: Bool { writePrimitive != nil }

    /// Writes the change between two contents that are not `==`, or primitive.
    func change(_ key: Key, from old: Content, to new: Content) throws {
        try changes.change {
            try writer.output.beginEntry(key, at: place)
        } _: { path in
            let place = CodingPath(node: node, key: EntryKey.of(key))
            let part = ChangedPart(place: place, path: path, writer: writer)
            if let writePrimitive { return try writePrimitive(old, new, part) }
            return try part.writeChange(from: old, to: new)
        }
    }

    func insert(_ key: Key, _ new: Content) throws {
        try changes.insert {
            try writer.output.beginEntry(key, at: place)
        } _: {
            try encodeItem(new, into: writer.output, under: EntryKey.of(key), in: node)
        }
    }

    func remove(_ key: Key, _ old: Content) throws {
        try changes.remove {
            try writer.output.beginEntry(key, at: place)
        } _: {
            try encodeItem(old, into: writer.output, under: EntryKey.of(key), in: node)
        }
    }

    func finish(from old: Int, to new: Int) throws(CodingFailure) -> Bool {
        try changes.finish(from: old, to: new, at: place)
    }

    /// Removes what was written.
    func rollBack() { changes.rollBack() }
}
