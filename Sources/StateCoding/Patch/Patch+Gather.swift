extension Patch {
    /// The same as one patch of fields, if it is a sequence of such: what becomes of a field is a sequence there, so
    /// that the container is changed once, and not for each part.
    ///
    /// A sequence with other parts stays one; so does one with a removal of what changed before, or of what may be an
    /// element, which fits no array, though a key that is set after it would.
    ///
    /// - Throws: `patchMismatch` for what never fits.
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

    /// Where a failure says where the patch goes.
    func gathered(at place: Place) throws(CodingFailure) -> Patch {
        do throws(CodingFailure) { return try gathered() } catch { throw error.inside(place) }
    }

    /// What the changes of one field do to it; `nil` if no single change can say that.
    private static func gathered(_ changes: [FieldChange]) throws(CodingFailure) -> FieldChange? {
        guard changes.count > 1, let first = changes.first else { return changes.first }
        if case .change(let patch) = first, !patch.isReplacement {
            var patches: [Patch] = []
            for case .change(let patch) in changes { patches.append(patch) }
            return patches.count == changes.count ? .change(.sequence(patches)) : nil
        }
        // What was there does not matter.
        var entry: Value?
        try run(changes, on: &entry)
        return entry.map { .change(.replace($0)) } ?? .remove
    }
}
