extension Patch {
    /// Applies the patch to an untyped value. If it does not fit, the value stays as it was.
    ///
    /// Costs: a changed map O(log n) for each of its keys, a changed array a copy, and each splice a move of the
    /// elements after it.
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
        try run(on: &new)
        value = new
    }

    /// Applies the patch. If it does not fit, the value is undefined.
    private func run(on value: inout Value) throws(CodingFailure) {
        switch form {
        case .replace(let new): value = new
        case .sequence(let parts): for part in parts { try part.run(on: &value) }
        case .fields(let fields):
            if fields.isEmpty { return }
            // Taken out, so that the container has one owner and changes without a copy.
            if var map = value.takeMap() {
                for (key, change) in fields { try Self.run(change, on: &map.entries[key], under: key) }
                value = .map(map)
            } else if var elements = value.takeArray() {
                for (key, change) in fields { try Self.run(change, on: &elements, under: key) }
                value = .array(elements)
            } else {
                throw Self.misfit("a map or an array", value.summary)
            }
        case .splice(let splice):
            guard var elements = value.takeArray() else { throw Self.misfit("an array to splice", value.summary) }
            guard splice.removedEnd <= elements.count else {
                throw Self.misfit(
                    "at least \(splice.removedEnd) elements to splice",
                    "an array of \(elements.count)"
                )
            }
            elements.replaceSubrange(splice.offset..<splice.removedEnd, with: splice.inserted)
            value = .array(elements)
        }
    }

    /// Applies the change of a map's entry.
    private static func run(_ change: Value, on entry: inout Value?, under key: Value) throws(CodingFailure) {
        if change.isNull {
            entry = nil
            return
        }
        let patch = PatchTree(value: change)
        do throws(CodingFailure) {
            if var value = entry.take() {
                try patch.run(on: &value)
                entry = value
            } else {
                entry = try patch.inserted
            }
        } catch { throw error.inside(DataKey.of(key).component) }
    }

    /// Applies the change of an array's element.
    private static func run(_ change: Value, on elements: inout [Value], under key: Value) throws(CodingFailure) {
        guard let index = key.elementIndex, index < elements.count, !change.isNull else {
            throw misfit("the element \(key.summary) of an array to change", "an array of \(elements.count)")
        }
        do throws(CodingFailure) { try PatchTree(value: change).run(on: &elements[index]) } catch {
            throw error.inside("\(index)")
        }
    }

    /// The value that the patch inserts under an absent key.
    private var inserted: Value {
        get throws(CodingFailure) {
            guard case .replace(let value) = form else {
                throw CodingFailure(.patchMismatch, CodingFailure.absentKey)
            }
            return value
        }
    }

    private static func misfit(_ expected: String, _ came: String) -> CodingFailure {
        CodingFailure(.patchMismatch, "expected \(expected), got \(came)")
    }
}

extension CodingFailure {
    static let absentKey = "expected the key to be there, as the patch changes a part of it"
}
