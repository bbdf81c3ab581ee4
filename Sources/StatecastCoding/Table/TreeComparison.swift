/// Walks two trees side by side and visits the entries of nodes that they do not share.
///
/// A tree differs from a changed copy in few nodes, but nodes split, join and move. So shared nodes are found by their
/// places in the order of the keys. If both cursors precede the same node at any level, both skip it. A cursor waits at
/// a leaf's first entry until the other reaches that key.
struct TreeComparison<Order: KeyOrder, Payload> {
    /// Retain the nodes that the cursors point into.
    private let roots: (old: TreeNode?, new: TreeNode?)
    private let same: ((Payload, Payload) -> Bool)?
    private var old: TreeCursor
    private var new: TreeCursor
    /// The number of nodes that were entered or skipped, and of entries that were visited.
    private(set) var steps = 0

    /// - Parameter same: Whether the elements of a key are equal, so that the key is not visited.
    init(
        from old: SortedTree<Order, Payload>,
        to new: SortedTree<Order, Payload>,
        by same: ((Payload, Payload) -> Bool)? = nil
    ) {
        roots = (old.root, new.root)
        self.same = same
        self.old = TreeCursor(old.root)
        self.new = TreeCursor(new.root)
    }

    /// An old or a new element, in place. (The type of an optional payload would be looked up at each visit.)
    typealias Element = UnsafePointer<Payload>

    /// Visits each key of those nodes with its old and its new element.
    mutating func run<Failure: Error>(
        _ visit: (Order.Key, Element?, Element?) throws(Failure) -> Void
    ) throws(Failure) {
        defer { withExtendedLifetime(roots) {} }
        while !old.isAtEnd || !new.isAtEnd {
            let level = max(old.level, new.level)
            if level >= 0 { pass(level) } else if !skipEqual() { try visitNext(visit) }
        }
    }

    /// Skips the node of a level if both cursors are before it, else enters the one or two nodes of this level.
    private mutating func pass(_ level: Int) {
        steps += 1
        let (before, after) = (old.node(at: level), new.node(at: level))
        if let before, let after, before.toOpaque() == after.toOpaque() {
            old.skip(level: level)
            new.skip(level: level)
        } else {
            if old.level == level { old.descend() }
            if new.level == level { new.descend() }
        }
    }

    /// Visits the entry that comes first, or both if their keys are the same.
    private mutating func visitNext<Failure: Error>(
        _ visit: (Order.Key, Element?, Element?) throws(Failure) -> Void
    ) throws(Failure) {
        steps += 1
        switch (old.leaf, new.leaf) {
        case (let before?, let after?):
            let (oldKey, newKey) = (keys(before) + old.index, keys(after) + new.index)
            if Order.precedes(oldKey.pointee, newKey.pointee) {
                try visit(oldKey.pointee, elements(before) + old.index, nil)
                old.advance()
            } else if Order.precedes(newKey.pointee, oldKey.pointee) {
                try visit(newKey.pointee, nil, elements(after) + new.index)
                new.advance()
            } else {
                try visit(newKey.pointee, elements(before) + old.index, elements(after) + new.index)
                old.advance()
                new.advance()
            }
        case (let before?, nil):
            try visit(keys(before)[old.index], elements(before) + old.index, nil)
            old.advance()
        case (nil, let after?):
            try visit(keys(after)[new.index], nil, elements(after) + new.index)
            new.advance()
        case (nil, nil): break
        }
    }

    /// Moves past entries with equal keys and elements: most entries of a leaf that was copied to change one of them.
    ///
    /// - Returns: Whether there were any.
    private mutating func skipEqual() -> Bool {
        guard let same, let before = old.leaf, let after = new.leaf else { return false }
        let (oldKeys, newKeys) = (keys(before) + old.index, keys(after) + new.index)
        let (oldElements, newElements) = (elements(before) + old.index, elements(after) + new.index)
        let maxCount = min(old.remaining, new.remaining)
        var count = 0
        while count < maxCount,
            haveSameBytes(oldKeys + count, newKeys + count) || Order.areEqual(oldKeys[count], newKeys[count]),
            haveSameBytes(oldElements + count, newElements + count) || same(oldElements[count], newElements[count])
        {
            count += 1
        }
        guard count > 0 else { return false }
        steps += count
        old.advance(by: count)
        new.advance(by: count)
        return true
    }

    private func keys(_ leaf: TreeCursor.Leaf) -> UnsafePointer<Order.Key> {
        UnsafePointer(leaf.keys.assumingMemoryBound(to: Order.Key.self))
    }

    private func elements(_ leaf: TreeCursor.Leaf) -> Element {
        UnsafePointer(leaf.payloads.assumingMemoryBound(to: Payload.self))
    }
}

extension SortedTree {
    /// Visits the keys whose elements differ, in their order: O(changes) for a tree and its changed copy.
    ///
    /// Without `same`, it also visits keys with equal elements in leaves that the trees do not share.
    static func differences<Failure: Error>(
        from old: SortedTree,
        to new: SortedTree,
        by same: ((Payload, Payload) -> Bool)? = nil,
        _ visit: (Key, UnsafePointer<Payload>?, UnsafePointer<Payload>?) throws(Failure) -> Void
    ) throws(Failure) {
        var comparison = TreeComparison(from: old, to: new, by: same)
        try comparison.run(visit)
    }

    /// Whether both have the same keys with the same elements.
    func isEqual(to other: SortedTree, by same: (Payload, Payload) -> Bool) -> Bool {
        guard count == other.count else { return false }
        if isIdentical(to: other) { return true }
        do {
            try withoutActuallyEscaping(same) { same in
                try Self.differences(from: self, to: other, by: same) { (_, _, _) throws(Unequal) in throw Unequal() }
            }
            return true
        } catch {
            return false
        }
    }
}

private struct Unequal: Error {}

/// A position in a tree: before a whole node, or in a leaf.
///
/// The cursor enters nodes only by `descend`, so that whole nodes can be skipped without being read. It follows
/// pointers without counting references, so the tree must outlive it.
struct TreeCursor {
    /// An entered node, and the index of its next branch.
    private struct Step {
        let branches: UnsafeMutablePointer<TreeBranch>
        let width: Int
        var index: Int
    }

    /// An entered leaf.
    struct Leaf {
        let keys: UnsafeMutableRawPointer
        let payloads: UnsafeMutableRawPointer
        let width: Int
    }

    private let root: Unmanaged<TreeNode>?
    private let height: Int
    private var path: [Step] = []
    /// The current leaf; `nil` before a node and at the end.
    private(set) var leaf: Leaf?
    /// The index of the next entry of the leaf.
    private(set) var index = 0
    private(set) var isAtEnd: Bool

    init(_ root: TreeNode?) {
        self.root = root.map { Unmanaged.passUnretained($0) }
        height = root.map { Int($0.level) } ?? 0
        isAtEnd = root == nil
    }

    /// The level of the next node; -1 in a leaf and at the end.
    var level: Int { leaf != nil || isAtEnd ? -1 : height - path.count }

    /// The next node, or the leaf whose first entry is next, if it is of this level.
    func node(at level: Int) -> Unmanaged<TreeNode>? {
        guard level == height - path.count, index == 0, !isAtEnd else { return nil }
        guard level < height else { return root }
        let step = path[height - level - 1]
        return Unmanaged.passUnretained(step.branches[step.index].node)
    }

    /// Enters the next node.
    mutating func descend() {
        guard let node = node(at: height - path.count), leaf == nil else { return }
        node._withUnsafeGuaranteedRef { node in
            if node.level == 0 {
                leaf = Leaf(keys: node.keyMemory, payloads: node.payloadMemory, width: node.width)
                index = 0
            } else {
                path.append(Step(branches: node.branches, width: node.width, index: 0))
            }
        }
    }

    /// Skips the node of a level that starts at the position, or contains it.
    mutating func skip(level: Int) {
        let above = height - level
        if path.count > above { path.removeLast(path.count - above) }
        (leaf, index) = (nil, 0)
        while let last = path.indices.last {
            path[last].index += 1
            if path[last].index < path[last].width { return }
            path.removeLast()
        }
        isAtEnd = true
    }

    /// The number of entries from the next one to the end of the leaf.
    var remaining: Int { leaf.map { $0.width - index } ?? 0 }

    /// Moves past entries of the leaf.
    mutating func advance(by entries: Int = 1) {
        index += entries
        if let leaf, index >= leaf.width { skip(level: 0) }
    }
}
