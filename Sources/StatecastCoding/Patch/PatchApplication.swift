extension Patch {
    /// Applies the patch to an untyped value. If it does not fit, the value stays as it was.
    ///
    /// Costs: a changed map O(log n) for each of its keys, a changed array a copy; each once, however many parts of a
    /// sequence change it.
    ///
    /// - Throws: `patchMismatch`, with the path where it does not fit.
    public func apply(to value: inout Value) throws(CodingFailure) {
        try PatchTree(of: self).apply(to: &value)
    }

    /// Applies the patch and updates the value's summary.
    ///
    /// - Throws: as `apply(to:)`; then the summary stays as it was, too.
    public func apply(to value: inout Value, summary: inout Summary) throws(CodingFailure) {
        let old = value
        try apply(to: &value)
        var change = SummaryChange()
        change.replace(old, with: value, at: .root)
        summary.advance(by: change)
    }
}

extension PatchTree {
    /// Applies the patch to an untyped value, as ``Patch`` does.
    func apply(to value: inout Value) throws(CodingFailure) {
        var new = value
        try Self.run(parts[...], on: &new)
        value = new
    }

    /// Applies patches, none of them a sequence, one after the other. If one does not fit, the value is undefined.
    ///
    /// Consecutive patches of one container are applied together, so that it is taken out and put back once.
    private static func run(_ patches: ArraySlice<PatchTree>, on value: inout Value) throws(CodingFailure) {
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

    private static func run(_ patches: ArraySlice<PatchTree>, on map: inout ValueMap) throws(CodingFailure) {
        var groups = KeyGroups()
        for patch in patches {
            switch patch.form {
            case .fields(let fields): groups.append(fields)
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
    static func run(_ changes: [Value], on entry: inout Value?) throws(CodingFailure) {
        var rest = changes[...]
        while let first = rest.first {
            if first.isNull || entry == nil {
                entry = first.isNull ? nil : try PatchTree(value: first).inserted
                rest.removeFirst()
                continue
            }
            let patches = rest.prefix { !$0.isNull }
            rest = rest.dropFirst(patches.count)
            guard var value = entry.take() else { preconditionFailure("an entry that is there cannot be taken") }
            try run(patches.flatMap { PatchTree(value: $0).parts }[...], on: &value)
            entry = value
        }
    }

    // MARK: Arrays

    private static func run(
        _ patches: ArraySlice<PatchTree>,
        on elements: consuming [Value]
    ) throws(CodingFailure) -> [Value] {
        var list = ChunkedElements(elements, forSplices: patches.count) {
            element,
            index,
            patches throws(CodingFailure) in
            do throws(CodingFailure) { try run(patches[...], on: &element) } catch {
                throw error.inside("\(index)")
            }
        }
        for patch in patches {
            switch patch.form {
            case .fields(let fields):
                for (key, change) in fields {
                    guard let index = key.elementIndex, index < list.count, !change.isNull else {
                        throw misfit("the element \(key.summary) of an array to change", "an array of \(list.count)")
                    }
                    list.change(at: index, by: PatchTree(value: change).parts)
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
                throw CodingFailure(.patchMismatch, CodingFailure.absentKey)
            }
            return value
        }
    }

    fileprivate static func misfit(_ expected: String, _ came: String) -> CodingFailure {
        CodingFailure(.patchMismatch, "expected \(expected), got \(came)")
    }
}

extension PatchTree.Splice {
    fileprivate func check(against value: Value) throws(CodingFailure) {
        guard case .array(let elements) = value else { throw PatchTree.misfit("an array to splice", value.summary) }
        try check(count: elements.count)
    }

    fileprivate func check(count: Int) throws(CodingFailure) {
        guard removedEnd <= count else {
            throw PatchTree.misfit("at least \(removedEnd) elements to splice", "an array of \(count)")
        }
    }
}

/// The changes of fields by key, in the order in which the keys came.
struct KeyGroups {
    private(set) var all: [(key: Value, changes: [Value])] = []
    private var indexes: [Value: Int] = [:]

    mutating func append(_ fields: ValueMap) {
        for (key, change) in fields {
            if let index = indexes[key] {
                all[index].changes.append(change)
            } else {
                indexes[key] = all.count
                all.append((key, [change]))
            }
        }
    }
}

extension CodingFailure {
    static let absentKey = "expected the key to be there, as the patch changes a part of it"
}
