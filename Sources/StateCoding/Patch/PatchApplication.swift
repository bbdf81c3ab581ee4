extension Patch {
    /// Applies the patch to an untyped value. If it does not fit, the value stays as it was.
    ///
    /// Costs: a changed map O(log n) for each of its keys, a changed array a copy; each once, however many parts of a
    /// sequence change it.
    ///
    /// - Throws: `patchMismatch`, with the path where it does not fit.
    public func apply(to value: inout Value) throws(CodingFailure) {
        var new = value
        try Self.run(parts[...], on: &new)
        value = new
    }

    /// Applies the patch and updates the value's summary.
    ///
    /// - Throws: as `apply(to:)`; then the summary stays as it was, too.
    public func apply(to value: inout Value, summary: inout Summary) throws(CodingFailure) {
        let old = value
        try apply(to: &value)
        let touched = TouchedParts(parts)
        var change = SummaryChange()
        change.remove(touched, of: old, at: .root)
        change.add(touched, of: value, at: .root)
        summary.advance(by: change)
    }

    /// Applies patches, none of them a sequence, one after the other. If one does not fit, the value is undefined.
    ///
    /// Consecutive patches of one container are applied together, so that it is taken out and put back once.
    private static func run(_ patches: ArraySlice<Patch>, on value: inout Value) throws(CodingFailure) {
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

    /// Applies the changes of an entry, which may be removed and inserted again on the way.
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

    // MARK: Parts

    /// The value that the patch inserts under an absent key.
    private var inserted: Value {
        get throws(CodingFailure) {
            guard case .replace(let value) = form else {
                let message = "expected the key to be there, as the patch changes a part of it"
                throw CodingFailure(.patchMismatch, message)
            }
            return value
        }
    }

    /// The index of the element that a field of a patch changes, and the patch of the element.
    static func element(
        _ key: Value,
        _ change: FieldChange,
        of count: Int
    ) throws(CodingFailure) -> (index: Int, patch: Patch) {
        guard let index = key.elementIndex, index < count, case .change(let patch) = change else {
            throw misfit("the element \(key.summary) of an array to change", "an array of \(count)")
        }
        return (index, patch)
    }

    static func misfit(_ expected: String, _ came: String) -> CodingFailure {
        CodingFailure(.patchMismatch, "expected \(expected), got \(came)")
    }
}

extension Patch.Splice {
    fileprivate func check(against value: Value) throws(CodingFailure) {
        guard case .array(let elements) = value else { throw Patch.misfit("an array to splice", value.summary) }
        try check(count: elements.count)
    }

    fileprivate func check(count: Int) throws(CodingFailure) {
        guard removedEnd <= count else {
            throw Patch.misfit("at least \(removedEnd) elements to splice", "an array of \(count)")
        }
    }
}

/// Elements grouped by key, in the order in which the keys came.
struct KeyGroups<Element> {
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

extension TouchedParts {
    init(_ patches: [Patch]) {
        self.init()
        for patch in patches { insert(patch) }
    }

    private mutating func insert(_ patch: Patch) {
        switch patch.form {
        case .replace: insertAll()
        case .fields(let fields):
            for (key, change) in zip(fields.keys, fields.elements) {
                switch change {
                case .remove: insert(at: key) { $0.insertAll() }
                case .change(let patch): insert(at: key) { $0.insert(patch) }
                }
            }
        case .splice(let splice) where splice.removed == splice.inserted.count:
            for index in splice.offset..<splice.insertedEnd { insert(at: Value(index)) { $0.insertAll() } }
        case .splice(let splice): insertElements(from: splice.offset)
        case .sequence(let parts): for part in parts { insert(part) }
        }
    }
}
