extension Patch {
    /// Applies the patch in place, at a cost that follows the patch. If it does not fit, the value stays as it was.
    ///
    /// - Throws: `patchMismatch`, with the path where it does not fit.
    public func apply(to value: inout Value) throws(CodingFailure) {
        var results = SequenceResults()
        try check(against: value, &results)
        var nothing: SummaryChange?
        perform(on: &value, at: .root, &nothing, &results)
    }

    /// Applies the patch and keeps the value's summary.
    ///
    /// - Throws: as `apply(to:)`; then the summary stays too.
    public func apply(to value: inout Value, summary: inout Summary) throws(CodingFailure) {
        var results = SequenceResults()
        try check(against: value, &results)
        var change: SummaryChange? = SummaryChange()
        perform(on: &value, at: .root, &change, &results)
        if let change { summary.advance(by: change) }
    }

    // MARK: Performing

    /// Changes the value, and the summary where one is kept. The patch has been checked.
    ///
    /// Containers are taken out of the value while they change, so that they have one owner and are not copied.
    private func perform(
        on value: inout Value,
        at path: DigestPath,
        _ summary: inout SummaryChange?,
        _ results: inout SequenceResults
    ) {
        switch form {
        case .replace(let new):
            summary?.remove(value, at: path)
            summary?.add(new, at: path)
            value = new
        case .fields(let fields):
            guard fields.count > 0 else { break }
            if var map = value.takeMap() {
                Self.perform(fields, on: &map, at: path, &summary, &results)
                value = .map(map)
            } else if var elements = value.takeArray() {
                for (key, change) in zip(fields.keys, fields.elements) {
                    guard let index = key.elementIndex, case .change(let patch) = change else { continue }
                    let inner = summary == nil ? path : path.index(index)
                    patch.perform(on: &elements[index], at: inner, &summary, &results)
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
            // What many parts touch is hashed before the first and after the last, and not for each of them.
            let touched = summary.map { _ in TouchedParts(parts) }
            if let touched { summary?.remove(touched, of: value, at: path) }
            value = results.next()
            if let touched { summary?.add(touched, of: value, at: path) }
        }
    }

    private static func perform(
        _ fields: KeyedEntries<FieldChange>,
        on map: inout ValueMap,
        at path: DigestPath,
        _ summary: inout SummaryChange?,
        _ results: inout SequenceResults
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
                patch.perform(on: &map.entries[offset: offset], at: inner, &summary, &results)
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
