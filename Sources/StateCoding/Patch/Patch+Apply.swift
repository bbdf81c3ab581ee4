extension Patch {
    /// Applies the patch in place, at a cost that follows the patch. If it does not fit, the value stays as it was.
    ///
    /// - Throws: `patchMismatch`, with the path where it does not fit.
    public func apply(to value: inout Value) throws(CodingFailure) {
        try check(against: value)
        var nothing: SummaryChange?
        perform(on: &value, at: .root, &nothing)
    }

    /// Applies the patch and keeps the value's summary.
    ///
    /// - Throws: as `apply(to:)`; then the summary stays too.
    public func apply(to value: inout Value, summary: inout Summary) throws(CodingFailure) {
        try check(against: value)
        var change: SummaryChange? = SummaryChange()
        perform(on: &value, at: .root, &change)
        if let change { summary.advance(by: change) }
    }

    // MARK: Checking

    /// Finds out whether the patch fits before anything is changed: cheaper than a copy, of which each container on
    /// the way would be a copy too. Only within a sequence must the earlier patches be tried.
    private func check(against value: Value) throws(CodingFailure) {
        switch form {
        case .replace: break
        case .fields(let fields):
            if fields.count > 0 { try Self.check(fields, against: value) }
        case .splice(let splice):
            guard case .array(let elements) = value else { throw Self.misfit("an array to splice", value) }
            guard splice.removedEnd <= elements.count else {
                throw Self.misfit("at least \(splice.removedEnd) elements to splice", value)
            }
        case .sequence(let parts):
            var copy = value
            for part in parts { try part.apply(to: &copy) }
        }
    }

    private static func check(
        _ fields: KeyedEntries<FieldChange>,
        against value: Value
    ) throws(CodingFailure) {
        switch value {
        case .map(let map):
            for (key, change) in zip(fields.keys, fields.elements) {
                guard case .change(let patch) = change else { continue }
                if let element = map.entries[key] {
                    do throws(CodingFailure) { try patch.check(against: element) } catch {
                        throw error.inside(DataKey.of(key).component)
                    }
                } else {
                    guard case .replace = patch.form else {
                        let message = "expected the key to be there, as the patch changes a part of it"
                        throw CodingFailure(.patchMismatch, message).inside(DataKey.of(key).component)
                    }
                }
            }
        case .array(let elements):
            for (key, change) in zip(fields.keys, fields.elements) {
                guard let index = key.elementIndex, elements.indices.contains(index), case .change(let patch) = change
                else { throw misfit("the element \(key.summary) of an array to change", value) }
                do throws(CodingFailure) { try patch.check(against: elements[index]) } catch {
                    throw error.inside("\(index)")
                }
            }
        default: throw misfit("a map or an array", value)
        }
    }

    private static func misfit(_ expected: String, _ value: Value) -> CodingFailure {
        CodingFailure(.patchMismatch, "expected \(expected), got \(value.summary)")
    }

    // MARK: Performing

    /// Changes the value, and the summary where one is kept. The patch has been checked.
    ///
    /// Containers are taken out of the value while they change, so that they have one owner and are not copied.
    private func perform(on value: inout Value, at path: DigestPath, _ summary: inout SummaryChange?) {
        switch form {
        case .replace(let new):
            summary?.remove(value, at: path)
            summary?.add(new, at: path)
            value = new
        case .fields(let fields):
            guard fields.count > 0 else { break }
            if var map = value.takeMap() {
                Self.perform(fields, on: &map, at: path, &summary)
                value = .map(map)
            } else if var elements = value.takeArray() {
                for (key, change) in zip(fields.keys, fields.elements) {
                    guard let index = key.elementIndex, case .change(let patch) = change else { continue }
                    patch.perform(on: &elements[index], at: summary == nil ? path : path.index(index), &summary)
                }
                value = .array(elements)
            } else {
                preconditionFailure("a patch of fields passed the check against \(value.summary)")
            }
        case .splice(let splice):
            guard var elements = value.takeArray() else {
                preconditionFailure("a splice passed the check against \(value.summary)")
            }
            Self.perform(splice, on: &elements, at: path, &summary)
            value = .array(elements)
        case .sequence(let parts):
            for part in parts { part.perform(on: &value, at: path, &summary) }
        }
    }

    private static func perform(
        _ fields: KeyedEntries<FieldChange>,
        on map: inout ValueMap,
        at path: DigestPath,
        _ summary: inout SummaryChange?
    ) {
        let oldCount = map.count
        for (key, change) in zip(fields.keys, fields.elements) {
            let (offset, found) = map.entries.position(of: key)
            switch (change, found) {
            case (.remove, false): break
            case (.remove, true):
                let (_, old) = map.entries.remove(at: offset)
                summary?.remove(old, under: key, in: path)
            case (.change(let patch), true):
                let inner = summary == nil ? path : path.key(key)
                patch.perform(on: &map.entries[offset: offset], at: inner, &summary)
            case (.change(let patch), false):
                guard case .replace(let value) = patch.form else {
                    preconditionFailure("a patch of the absent key \(key.summary) passed the check")
                }
                summary?.add(value, under: key, in: path)
                map.entries.insert(key, value)
            }
        }
        summary?.resize(.map, from: oldCount, to: map.count, at: path)
    }

    private static func perform(
        _ splice: Splice,
        on elements: inout [Value],
        at path: DigestPath,
        _ summary: inout SummaryChange?
    ) {
        let oldCount = elements.count
        let newCount = oldCount - splice.removed + splice.inserted.count
        // Positions are part of the digest: where the length changes, all that follows moves.
        let keepsPositions = oldCount == newCount
        summary?.remove(
            elements[splice.offset..<(keepsPositions ? splice.removedEnd : oldCount)],
            in: path
        )
        elements.replaceSubrange(splice.offset..<splice.removedEnd, with: splice.inserted)
        summary?.add(elements[splice.offset..<(keepsPositions ? splice.insertedEnd : newCount)], in: path)
        summary?.resize(.array, from: oldCount, to: newCount, at: path)
    }
}

extension Value {
    /// The key of a patch as an index. Only integers: `1.0` is another key than `1`, and would be the same index.
    var elementIndex: Int? {
        guard case .unsigned(let index) = self else { return nil }
        return Int(exactly: index)
    }

    /// Takes the map out, leaving null: in a function of its own, so that no copy of it stays alive meanwhile.
    fileprivate mutating func takeMap() -> ValueMap? {
        guard case .map(let map) = self else { return nil }
        self = .null
        return map
    }

    fileprivate mutating func takeArray() -> [Value]? {
        guard case .array(let elements) = self else { return nil }
        self = .null
        return elements
    }
}
