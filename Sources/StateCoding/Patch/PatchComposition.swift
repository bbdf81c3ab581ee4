extension Patch {
    /// One patch that does what this one and then `later` do, as compactly as their shapes allow.
    ///
    /// Fields merge, a later replacement wins, and patches that follow a replacement are applied to its value. Patches
    /// that cannot be merged stay a sequence.
    public consuming func composed(with later: Patch) -> Patch {
        compose(with: later)
        return self
    }

    /// Composes in place, without copying parts that have no other owner.
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
        // The parts of each side are composed already, so only neighbours in the middle can merge.
        while let next = rest.first, parts[parts.count - 1].merge(next) { rest.removeFirst() }
        parts += rest
        self = parts.count == 1 ? parts[0] : Patch(.sequence(parts))
    }

    /// Merges the next patch into this one.
    ///
    /// - Returns: Whether it could; if not, nothing has changed.
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

    // Each takes its part out, so that the part has one owner and changes without a copy.

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
            // A removed key can only be inserted again with a replacement.
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
    /// Merges a splice that touches the elements which this one inserted.
    fileprivate mutating func merge(_ next: Patch.Splice) -> Bool {
        guard next.offset <= insertedEnd, next.removedEnd >= offset else { return false }
        let more = max(0, offset - next.offset) + max(0, next.removedEnd - insertedEnd)
        // Splices that fit no value may add up to more than an index holds; they are not merged.
        guard removed <= Self.indexMax - more else { return false }
        let start = max(0, next.offset - offset)
        let end = min(inserted.count, next.removedEnd - offset)
        inserted.replaceSubrange(start..<end, with: next.inserted)
        removed += more
        offset = min(offset, next.offset)
        return true
    }

    /// Merges changes of elements that the splice itself inserted.
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

// MARK: Sequences

extension Patch {
    /// One patch of fields that is equivalent to a sequence of such. The changes of each field become a sequence, so
    /// that the container changes once instead of once for each part.
    ///
    /// A sequence with other parts stays as it is. So does one with a removal of a field that changed before, or of a
    /// possible element, which fits no array although a later change of that key would.
    ///
    /// - Throws: `patchMismatch` for a patch that fits no value.
    private func gathered() throws(CodingFailure) -> Patch {
        guard case .sequence(let parts) = form else { return self }
        var groups = KeyGroups<FieldChange>()
        for part in parts {
            guard case .fields(let fields) = part.form else { return self }
            for (key, change) in zip(fields.keys, fields.elements) { groups.append(change, to: key) }
        }
        var gathered: [(key: Value, element: FieldChange)] = []
        gathered.reserveCapacity(groups.all.count)
        for (key, changes) in groups.all {
            do throws(CodingFailure) {
                if changes.count > 1, key.elementIndex != nil, changes.contains(.remove) { return self }
                guard let change = try Self.gathered(changes) else { return self }
                gathered.append((key, change))
            } catch {
                throw error.inside(DataKey.of(key).component)
            }
        }
        return Patch(.fields(try KeyedEntries(canonical: gathered)))
    }

    /// The same, for a patch of the part at a place, which failures name.
    func gathered(at place: CodingPath) throws(CodingFailure) -> Patch {
        do throws(CodingFailure) { return try gathered() } catch { throw error.inside(place) }
    }

    /// One change that is equivalent to several changes of one field; `nil` if there is none.
    private static func gathered(_ changes: [FieldChange]) throws(CodingFailure) -> FieldChange? {
        guard changes.count > 1, let first = changes.first else { return changes.first }
        if case .change(let patch) = first, !patch.isReplacement {
            var patches: [Patch] = []
            for case .change(let patch) in changes { patches.append(patch) }
            return patches.count == changes.count ? .change(.sequence(patches)) : nil
        }
        // The old entry does not matter.
        var entry: Value?
        try run(changes, on: &entry)
        return entry.map { .change(.replace($0)) } ?? .remove
    }
}

/// Composes many patches, one after the other, in O(n log n) for all of them.
///
/// Two neighbouring patches are composed when they stand for equally many patches, so that a large patch is not
/// processed again for each small one.
package struct PatchComposer: Sendable {
    /// Each stands for more patches than the next.
    private var runs: [(patch: Patch, count: Int)] = []

    package init() {}

    package var isEmpty: Bool { runs.isEmpty }

    package mutating func append(_ patch: consuming Patch) {
        if patch.isEmpty { return }
        runs.append((patch, 1))
        while runs.count > 1, runs[runs.count - 2].count <= runs[runs.count - 1].count { composeLast() }
    }

    /// All patches as one. The composer is empty afterwards.
    package mutating func finish() -> Patch {
        while runs.count > 1 { composeLast() }
        return runs.popLast()?.patch ?? .none
    }

    private mutating func composeLast() {
        let (later, count) = runs.removeLast()
        runs[runs.count - 1].patch.compose(with: later)
        runs[runs.count - 1].count += count
    }
}
