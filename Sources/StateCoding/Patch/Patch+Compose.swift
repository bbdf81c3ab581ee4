extension Patch {
    /// One patch that does what this one and then `later` do, as compactly as their shapes allow.
    ///
    /// Fields merge, a later replacement wins, and what follows a replacement is applied into it. What cannot be merged
    /// stays a sequence.
    public func composed(with later: Patch) -> Patch {
        if later.isEmpty { return self }
        if isEmpty { return later }
        if case .sequence(let parts) = later.form {
            return parts.reduce(self) { $0.composed(with: $1) }
        }
        if case .sequence(var parts) = form {
            if case .replace = later.form { return later }
            let last = parts.removeLast()
            return Patch(.sequence(parts + last.composed(with: later).parts))
        }
        return merged(with: later) ?? Patch(.sequence([self, later]))
    }

    private func merged(with later: Patch) -> Patch? {
        switch (form, later.form) {
        case (_, .replace): return later
        case (.replace(var value), _):
            guard (try? later.apply(to: &value)) != nil else { return nil }
            return .replace(value)
        case (.fields(let first), .fields(let second)): return Self.merged(first, second)
        case (.splice(let first), .splice(let second)): return Self.merged(first, second)
        case (.splice(var splice), .fields(let fields)):
            // Changes of elements that the splice itself brought.
            for (key, change) in zip(fields.keys, fields.elements) {
                guard let index = key.elementIndex, (splice.offset..<splice.insertedEnd).contains(index),
                    case .change(let patch) = change,
                    (try? patch.apply(to: &splice.inserted[index - splice.offset])) != nil
                else { return nil }
            }
            return Patch(.splice(splice))
        default: return nil
        }
    }

    private static func merged(_ first: KeyedEntries<FieldChange>, _ second: KeyedEntries<FieldChange>) -> Patch? {
        var changes: [(key: Value, element: FieldChange?)] = []
        changes.reserveCapacity(second.count)
        for (key, later) in zip(second.keys, second.elements) {
            switch (first.element(for: key), later) {
            case (nil, _), (_, .remove): changes.append((key, later))
            case (.remove?, .change(let patch)):
                // Nothing is there any more: only a whole value can follow.
                guard case .replace = patch.form else { return nil }
                changes.append((key, later))
            case (.change(let earlier)?, .change(let patch)):
                changes.append((key, .change(earlier.composed(with: patch))))
            }
        }
        var merged = first
        merged.merge(changes)
        return Patch(.fields(merged))
    }

    /// Two splices are one where the second touches what the first put in.
    private static func merged(_ first: Splice, _ second: Splice) -> Patch? {
        guard second.offset <= first.insertedEnd, second.removedEnd >= first.offset else { return nil }
        let kept = first.inserted
        let before = kept.prefix(max(0, second.offset - first.offset))
        let after = kept.dropFirst(min(kept.count, second.removedEnd - first.offset))
        let more = max(0, first.offset - second.offset) + max(0, second.removedEnd - first.insertedEnd)
        // Parts that never fitted any value may add up to more than an index can say; they stay apart.
        guard first.removed <= Splice.indexMax - more else { return nil }
        return .splice(
            min(first.offset, second.offset),
            first.removed + more,
            before + second.inserted + after
        )
    }
}
