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
        var groups = KeyGroups<FieldChange>()
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
    static func run(_ changes: [FieldChange], on entry: inout Value?) throws(CodingFailure) {
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
        var list = ChunkedElements(elements, forSplices: patches.count) { element, waiting throws(CodingFailure) in
            do throws(CodingFailure) { try run(waiting.patches[...], on: &element) } catch {
                throw error.inside("\(waiting.index)")
            }
        }
        for patch in patches {
            switch patch.form {
            case .fields(let fields):
                for (key, change) in zip(fields.keys, fields.elements) {
                    let (index, patch) = try element(key, change, of: list.count)
                    list.change(at: index, by: patch)
                }
            case .splice(let splice):
                try splice.check(count: list.count)
                try list.splice(at: splice.offset, removing: splice.removed, inserting: splice.inserted)
            case .replace, .sequence: preconditionFailure("a whole value is no patch of parts")
            }
        }
        return try list.finish()
    }
}
