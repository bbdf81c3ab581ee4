extension Patch {
    /// Applies patches, none of them a sequence, one after the other. The value is of no use if one does not fit.
    ///
    /// All that go into one container in a row do so together, so that it is taken out and put back once.
    static func run(_ patches: ArraySlice<Patch>, on value: inout Value) throws(CodingFailure) {
        var rest = patches
        while let first = rest.first {
            if case .replace(let new) = first.form {
                value = new
                rest.removeFirst()
                continue
            }
            let inner = rest.prefix { !$0.isReplacement }
            rest = rest.dropFirst(inner.count)
            if var map = value.takeMap() {
                try run(inner, on: &map)
                value = .map(map)
            } else if let elements = value.takeArray() {
                value = .array(try run(inner, on: elements))
            } else if let patch = inner.first(where: { !$0.isEmpty }) {
                if case .splice(let splice) = patch.form { try splice.check(against: value) }
                throw misfit("a map or an array", value.summary)
            }
        }
    }

    // MARK: Maps

    private static func run(_ patches: ArraySlice<Patch>, on map: inout ValueMap) throws(CodingFailure) {
        var groups = Groups<FieldChange>()
        for patch in patches {
            switch patch.form {
            case .fields(let fields):
                for (key, change) in zip(fields.keys, fields.elements) { groups.append(change, to: key) }
            case .splice(let splice): try splice.check(against: .map(map))
            case .replace, .sequence: preconditionFailure("a whole value is no patch of parts")
            }
        }
        for (key, changes) in groups.all {
            do throws(CodingFailure) { try run(changes, on: &map.entries[key]) } catch {
                throw error.inside(DataKey.of(key).component)
            }
        }
    }

    /// What becomes of an entry, which may be removed and inserted again on the way.
    private static func run(_ changes: [FieldChange], on entry: inout Value?) throws(CodingFailure) {
        var rest = changes[...]
        while let first = rest.first {
            guard case .change(let patch) = first else {
                entry = nil
                rest.removeFirst()
                continue
            }
            guard entry != nil else {
                entry = try patch.inserted
                rest.removeFirst()
                continue
            }
            var patches: [Patch] = []
            while case .change(let patch)? = rest.first {
                patches += patch.parts
                rest.removeFirst()
            }
            guard var value = entry.take() else { preconditionFailure("an entry that is there cannot be taken") }
            try run(patches[...], on: &value)
            entry = value
        }
    }

    // MARK: Arrays

    private static func run(
        _ patches: ArraySlice<Patch>,
        on elements: consuming [Value]
    ) throws(CodingFailure) -> [Value] {
        var list = ChunkedElements(elements, forSplices: patches.count)
        var groups = Groups<Patch>()
        for patch in patches {
            switch patch.form {
            case .fields(let fields):
                for (key, change) in zip(fields.keys, fields.elements) {
                    let patch = try element(key, change, of: list.count).patch
                    for part in patch.parts { groups.append(part, to: key) }
                }
            case .splice(let splice):
                // Elements move now.
                try run(&groups, on: &list)
                try splice.check(count: list.count)
                list.perform(splice)
            case .replace, .sequence: preconditionFailure("a whole value is no patch of parts")
            }
        }
        try run(&groups, on: &list)
        return list.elements
    }

    private static func run(_ groups: inout Groups<Patch>, on list: inout ChunkedElements) throws(CodingFailure) {
        guard !groups.all.isEmpty else { return }
        for (key, patches) in groups.all {
            guard let index = key.elementIndex else { preconditionFailure("\(key.summary) passed as an index") }
            do throws(CodingFailure) {
                try list.change(at: index) { element throws(CodingFailure) in try run(patches[...], on: &element) }
            } catch {
                throw error.inside("\(index)")
            }
        }
        groups = Groups()
    }
}

/// Elements gathered by key, in the order in which the keys came.
private struct Groups<Element> {
    private(set) var all: [(key: Value, elements: [Element])] = []
    private var indexes: [Value: Int] = [:]

    mutating func append(_ element: Element, to key: Value) {
        if let index = indexes[key] {
            all[index].elements.append(element)
        } else {
            indexes[key] = all.count
            all.append((key, [element]))
        }
    }
}
