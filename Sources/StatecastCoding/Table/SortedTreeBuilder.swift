/// Builds a tree from entries that come in the order of their keys, in O(n) and with full nodes.
struct SortedTreeBuilder<Order: KeyOrder, Payload>: ~Copyable {
    private typealias Tree = SortedTree<Order, Payload>
    private typealias Level = [(key: Order.Key, branch: TreeBranch)]

    private var leaves: Level = []
    private var leaf: Tree.Leaf?
    private var total = 0
    private let expected: Int

    /// - Parameter count: The expected number of entries. A correct number saves memory.
    init(count: Int = 0) {
        expected = count
    }

    /// Adds an entry.
    ///
    /// - Returns: Whether its key comes after the last one; if not, nothing is added.
    mutating func append(_ key: Order.Key, _ element: Payload) -> Bool {
        if let leaf, !Order.precedes(leaf.keys[leaf.width - 1], key) { return false }
        append(unchecked: key, element)
        return true
    }

    /// Adds an entry.
    ///
    /// - Precondition: Its key comes after the last one.
    mutating func append(unchecked key: Order.Key, _ element: Payload) {
        var leaf = self.leaf ?? newLeaf
        if leaf.width == leaf.room {
            if leaf.width == Tree.maxEntries {
                close(leaf)
                leaf = newLeaf
            } else {
                leaf = leaf.split(at: 0, room: min(Tree.maxEntries, leaf.width * 2))
            }
            self.leaf = leaf
        } else if self.leaf == nil {
            self.leaf = leaf
        }
        leaf.insert(key, element, at: leaf.width)
        total += 1
    }

    private var newLeaf: Tree.Leaf {
        let rest = expected - total
        return Tree.Leaf(level: 0, room: rest > 0 ? min(rest, Tree.maxEntries) : total > 0 ? Tree.maxEntries : 4)
    }

    private mutating func close(_ leaf: Tree.Leaf) {
        leaves.append((leaf.keys[0], TreeBranch(node: leaf, count: leaf.width)))
    }

    /// The tree of all entries.
    consuming func finish() -> SortedTree<Order, Payload> {
        guard let leaf else { return SortedTree() }
        if leaves.isEmpty { return SortedTree(root: leaf, count: total) }
        close(leaf)
        var (level, height) = (leaves, 0)
        while level.count > 1 {
            height += 1
            level = Self.above(level, height)
        }
        return SortedTree(root: level[0].branch.node, count: total)
    }

    private static func above(_ below: Level, _ height: Int) -> Level {
        stride(from: 0, to: below.count, by: TreeNode.maxBranches).map { start in
            let branches = below[start..<min(start + TreeNode.maxBranches, below.count)]
            let inner = Tree.Inner(level: height, room: branches.count)
            for (key, branch) in branches { inner.insert(key, branch, at: inner.width) }
            return (below[start].key, TreeBranch(node: inner, count: inner.total))
        }
    }
}

extension SortedTree {
    /// The tree of entries in any order; O(n) if they are sorted. `combine` makes one element of two with the same key.
    init<Failure: Error>(
        _ entries: some Sequence<(Key, Payload)>,
        uniquingKeysWith combine: (Payload, Payload) throws(Failure) -> Payload
    ) throws(Failure) {
        var builder = SortedTreeBuilder<Order, Payload>(count: entries.underestimatedCount)
        var rest = entries.makeIterator()
        var next = rest.next()
        while let (key, element) = next, builder.append(key, element) { next = rest.next() }
        self = builder.finish()
        while let (key, element) = next {
            let (offset, found) = position(of: key)
            if found {
                self[offset: offset] = try combine(self[offset: offset], element)
            } else {
                insert(key, element)
            }
            next = rest.next()
        }
    }

    /// A tree with the same keys.
    func mapElements<Other, Failure: Error>(
        _ transform: (Payload) throws(Failure) -> Other
    ) throws(Failure) -> SortedTree<Order, Other> {
        var builder = SortedTreeBuilder<Order, Other>(count: count)
        for (key, element) in self { builder.append(unchecked: key, try transform(element)) }
        return builder.finish()
    }
}
