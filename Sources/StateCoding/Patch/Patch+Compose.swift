extension Patch {
    /// One patch that does what this one and then `later` do, as compactly as their shapes allow.
    ///
    /// Fields merge, a later replacement wins, and what follows a replacement is applied into it. What cannot be merged
    /// stays a sequence.
    public consuming func composed(with later: Patch) -> Patch {
        compose(with: later)
        return self
    }

    /// Composes in place: what has no other owner is not copied.
    mutating func compose(with later: Patch) {
        if later.isEmpty { return }
        if isEmpty || later.isReplacement {
            self = later
            return
        }
        if merge(later) { return }
        var parts = takeParts()
        var rest = later.parts[...]
        if let replacement = rest.lastIndex(where: \.isReplacement) {
            parts = [rest[replacement]]
            rest = rest[(replacement + 1)...]
        }
        // The parts of each side have been composed among themselves: they meet in the middle.
        while let next = rest.first, parts[parts.count - 1].merge(next) { rest.removeFirst() }
        parts += rest
        self = parts.count == 1 ? parts[0] : Patch(.sequence(parts))
    }

    /// Makes one patch of this and the next.
    ///
    /// - Returns: whether it could; else nothing has changed.
    private mutating func merge(_ later: Patch) -> Bool {
        if var value = takeReplacement() {
            defer { form = .replace(value) }
            return (try? later.apply(to: &value)) != nil
        }
        if case .fields(let changes) = later.form, var fields = takeFields() {
            defer { form = .fields(fields) }
            return fields.merge(changes)
        }
        guard var splice = takeSplice() else { return false }
        defer { form = .splice(splice) }
        switch later.form {
        case .splice(let next): return splice.merge(next)
        case .fields(let changes): return splice.merge(changes)
        case .replace, .sequence: return false
        }
    }

    // MARK: Taking out

    // Each in a function of its own, so that what is taken has one owner and is changed without a copy.

    private mutating func takeParts() -> [Patch] {
        defer { self = .none }
        return parts
    }

    private mutating func takeReplacement() -> Value? {
        guard case .replace(let value) = form else { return nil }
        self = .none
        return value
    }

    private mutating func takeFields() -> KeyedEntries<FieldChange>? {
        guard case .fields(let fields) = form else { return nil }
        self = .none
        return fields
    }

    private mutating func takeSplice() -> Splice? {
        guard case .splice(let splice) = form else { return nil }
        self = .none
        return splice
    }
}

extension KeyedEntries<Patch.FieldChange> {
    fileprivate mutating func merge(_ changes: KeyedEntries) -> Bool {
        let places = changes.keys.map { position(of: $0) }
        for (place, later) in zip(places, changes.elements) where place.found {
            // Nothing is there any more: only a whole value can follow.
            guard case .remove = elements[place.index], case .change(let patch) = later else { continue }
            guard case .replace = patch.form else { return false }
        }
        var more: [(key: Value, element: Patch.FieldChange?)] = []
        for (offset, place) in places.enumerated() {
            let later = changes.elements[offset]
            if place.found {
                update(at: place.index) { $0.compose(with: later) }
            } else {
                more.append((changes.keys[offset], later))
            }
        }
        merge(more)
        return true
    }
}

extension Patch.FieldChange {
    fileprivate mutating func compose(with later: Patch.FieldChange) {
        if case .change(let next) = later, var patch = takePatch() {
            patch.compose(with: next)
            self = .change(patch)
        } else {
            self = later
        }
    }

    private mutating func takePatch() -> Patch? {
        guard case .change(let patch) = self else { return nil }
        self = .remove
        return patch
    }
}

extension Patch.Splice {
    /// Two splices are one where the second touches what the first put in.
    fileprivate mutating func merge(_ next: Patch.Splice) -> Bool {
        guard next.offset <= insertedEnd, next.removedEnd >= offset else { return false }
        let more = max(0, offset - next.offset) + max(0, next.removedEnd - insertedEnd)
        // Parts that never fitted any value may add up to more than an index can say; they stay apart.
        guard removed <= Self.indexMax - more else { return false }
        let start = max(0, next.offset - offset)
        let end = min(inserted.count, next.removedEnd - offset)
        inserted.replaceSubrange(start..<end, with: next.inserted)
        removed += more
        offset = min(offset, next.offset)
        return true
    }

    /// Changes of elements that the splice itself brought.
    fileprivate mutating func merge(_ changes: KeyedEntries<Patch.FieldChange>) -> Bool {
        var shifted = KeyedEntries<Patch.FieldChange>()
        for (key, change) in zip(changes.keys, changes.elements) {
            guard let index = key.elementIndex, (offset..<insertedEnd).contains(index) else { return false }
            shifted.append(Value(index - offset), change)
        }
        var elements = Value.array(inserted)
        inserted = []
        defer { inserted = elements.takeArray() ?? [] }
        return (try? Patch(.fields(shifted)).apply(to: &elements)) != nil
    }
}
