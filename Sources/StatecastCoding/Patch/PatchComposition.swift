extension Patch {
    /// One patch that does what this one and then `later` do, as compactly as their shapes allow.
    ///
    /// Fields merge, a later replacement wins, and patches that follow a replacement are applied to its value. Patches
    /// that cannot be merged stay a sequence.
    ///
    /// Costs: a reading and a writing of both.
    public consuming func composed(with later: Patch) -> Patch {
        var composer = PatchComposer()
        composer.append(self)
        composer.append(later)
        return composer.finish()
    }
}

extension PatchTree {
    /// Composes in place, without copying parts that have no other owner.
    mutating func compose(with later: PatchTree) {
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
        self = parts.count == 1 ? parts[0] : PatchTree(.sequence(parts))
    }

    /// Merges the next patch into this one.
    ///
    /// - Returns: Whether it could; if not, nothing has changed.
    private mutating func merge(_ later: PatchTree) -> Bool {
        if var value = takeReplacement() {
            defer { self = PatchTree(.replace(value)) }
            return (try? later.apply(to: &value)) != nil
        }
        if case .fields(let changes) = later.form, var fields = takeFields() {
            defer { self = PatchTree(.fields(fields)) }
            return Self.merge(changes, into: &fields)
        }
        guard var splice = takeSplice() else { return false }
        defer { self = PatchTree(.splice(splice)) }
        switch later.form {
        case .splice(let next): return splice.merge(next)
        case .fields(let changes): return splice.merge(changes)
        case .replace, .sequence: return false
        }
    }

    private static func merge(_ changes: ValueMap, into fields: inout ValueMap) -> Bool {
        for (key, change) in changes where fields.entries[key]?.isNull == true {
            // A removed key can only be inserted again with a replacement.
            guard change.isNull || PatchTree(value: change).isReplacement else { return false }
        }
        for (key, change) in changes { compose(change, into: &fields.entries[key]) }
        return true
    }

    private static func compose(_ change: Value, into entry: inout Value?) {
        guard !change.isNull, let old = entry.take(), !old.isNull else { return entry = change }
        var patch = PatchTree(value: old)
        patch.compose(with: PatchTree(value: change))
        entry = patch.value
    }
}

extension PatchTree.Splice {
    /// Merges a splice that touches the elements which this one inserted.
    fileprivate mutating func merge(_ next: PatchTree.Splice) -> Bool {
        guard next.offset <= insertedEnd, next.removedEnd >= offset else { return false }
        let more = max(0, offset - next.offset) + max(0, next.removedEnd - insertedEnd)
        // Splices that fit no value may add up to more than an index holds; they are not merged.
        guard removed <= Self.maxIndex - more else { return false }
        let start = max(0, next.offset - offset)
        let end = min(inserted.count, next.removedEnd - offset)
        inserted.replaceSubrange(start..<end, with: next.inserted)
        removed += more
        offset = min(offset, next.offset)
        return true
    }

    /// Merges changes of elements that the splice itself inserted.
    fileprivate mutating func merge(_ changes: ValueMap) -> Bool {
        var shifted = ValueMap()
        for (key, change) in changes {
            guard let index = key.elementIndex, (offset..<insertedEnd).contains(index) else { return false }
            shifted[Value(index - offset)] = change
        }
        var elements = Value.array(inserted)
        inserted = []
        defer { inserted = elements.takeArray() ?? [] }
        return (try? PatchTree(.fields(shifted)).apply(to: &elements)) != nil
    }
}

/// Composes many patches, one after the other, in O(n log n) for all of them.
///
/// Two neighbouring patches are composed when they stand for equally many patches, so that a large patch is not
/// processed again for each small one.
package struct PatchComposer: Sendable {
    /// Consecutive patches as one. A single one, as most are, needs no tree.
    private enum Run {
        case single(Patch)
        case composed(PatchTree, count: Int)

        var count: Int {
            if case .composed(_, let count) = self { count } else { 1 }
        }

        /// The tree, without another owner.
        consuming func tree() -> PatchTree {
            switch self {
            case .single(let patch): PatchTree(of: patch)
            case .composed(let tree, _): tree
            }
        }
    }

    /// Each stands for more patches than the next.
    private var runs: [Run] = []

    package init() {}

    package var isEmpty: Bool { runs.isEmpty }

    /// The parts of a sequence, such as the updates that a joiner missed, are composed as patches of their own.
    package mutating func append(_ patch: consuming Patch) {
        if patch.isEmpty { return }
        if patch.isSequence {
            for part in PatchTree(of: patch).parts where !part.isEmpty { append(.composed(part, count: 1)) }
        } else {
            append(.single(patch))
        }
    }

    private mutating func append(_ run: consuming Run) {
        runs.append(run)
        while runs.count > 1, runs[runs.count - 2].count <= runs[runs.count - 1].count { composeLast() }
    }

    /// All patches as one. The composer is empty afterwards.
    package mutating func finish() -> Patch {
        while runs.count > 1 { composeLast() }
        switch runs.popLast() {
        case .single(let patch): return patch
        case .composed(let tree, _): return Patch(tree)
        case nil: return .none
        }
    }

    private mutating func composeLast() {
        let (later, earlier) = (runs.removeLast(), runs.removeLast())
        let count = earlier.count + later.count
        var tree = earlier.tree()
        tree.compose(with: later.tree())
        runs.append(.composed(tree, count: count))
    }
}
