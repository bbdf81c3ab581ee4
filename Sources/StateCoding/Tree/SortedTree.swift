/// Elements sorted by key: a value whose copies share all that was not changed since (a B-tree).
///
/// Copies cost O(1), changes O(log n), which copy only the nodes that other copies still use. The elements are in the
/// leaves alone, so what a change copies besides one leaf is keys and references. An empty tree has no memory, a small
/// one has one node.
@usableFromInline
struct SortedTree<Order: KeyOrder, Payload> {
    @usableFromInline
    typealias Key = Order.Key
    @usableFromInline
    typealias Leaf = SortedBuffer<Key, Payload>
    @usableFromInline
    typealias Inner = SortedBuffer<Key, TreeBranch>

    @usableFromInline var root: TreeNode?
    @usableFromInline var count: Int

    init() {
        root = nil
        count = 0
    }

    init(root: TreeNode, count: Int) {
        self.root = root
        self.count = count
    }

    @inlinable
    var isEmpty: Bool { count == 0 }

    /// Whether both are copies of one tree, neither changed since. Equal trees need not be identical.
    func isIdentical(to other: SortedTree) -> Bool { root === other.root }

    /// The most entries of a leaf: fewer if they are large.
    static var entriesMax: Int {
        Swift.max(8, Swift.min(32, 4096 / (MemoryLayout<Key>.stride + MemoryLayout<Payload>.stride)))
    }

    @inlinable
    static func leaf(_ node: TreeNode) -> Leaf { unsafeDowncast(node, to: Leaf.self) }
    @inlinable
    static func inner(_ node: TreeNode) -> Inner { unsafeDowncast(node, to: Inner.self) }
}

/// Nodes are changed only while one tree alone refers to them (`SortedTree.own`); what trees share is only read.
extension SortedTree: @unchecked Sendable where Order.Key: Sendable, Payload: Sendable {}

// MARK: Looking up

extension SortedTree {
    /// The element of a key.
    ///
    /// Changing it through the subscript changes it in its place: it has no second owner meanwhile. Setting `nil`
    /// removes the key; a key that is there already keeps its spelling.
    @inlinable
    subscript(key: Key) -> Payload? {
        get {
            guard var node = root else { return nil }
            while node.level > 0 { node = node.branches[Self.inner(node).range(of: key, in: Order.self)].node }
            let leaf = Self.leaf(node)
            let (index, found) = leaf.position(of: key, in: Order.self)
            return found ? leaf.payloads[index] : nil
        }
        _modify {
            let (offset, found) = position(of: key)
            var element: Payload?
            if found {
                let (leaf, index) = ownLeaf(at: offset)
                element = leaf.lend(at: index)
                defer {
                    if let element { leaf.giveBack(element, at: index) } else { closeGap(at: offset) }
                }
                yield &element
            } else {
                defer { if let element { insert(key, element) } }
                yield &element
            }
        }
    }

    /// The offset of a key, or the one that it would have.
    @inlinable
    func position(of key: Key) -> (offset: Int, found: Bool) {
        guard var node = root else { return (0, false) }
        var offset = 0
        while node.level > 0 {
            let index = Self.inner(node).range(of: key, in: Order.self)
            for before in 0..<index { offset += node.branches[before].count }
            node = node.branches[index].node
        }
        let (index, found) = Self.leaf(node).position(of: key, in: Order.self)
        return (offset + index, found)
    }

    /// The entry at an offset, which must be one.
    func entry(at offset: Int) -> (key: Key, element: Payload) {
        let (leaf, index) = leaf(at: offset)
        return (leaf.keys[index], leaf.payloads[index])
    }

    /// The key at an offset, which must be one.
    func key(at offset: Int) -> Key {
        let (leaf, index) = leaf(at: offset)
        return leaf.keys[index]
    }

    /// The element at an offset, which must be one. It is changed in its place.
    @inlinable
    subscript(offset offset: Int) -> Payload {
        get {
            let (leaf, index) = leaf(at: offset)
            return leaf.payloads[index]
        }
        _modify {
            let (leaf, index) = ownLeaf(at: offset)
            yield &leaf.payloads[index]
        }
    }

    @inlinable
    func leaf(at offset: Int) -> (leaf: Leaf, index: Int) {
        guard var node = root, offset >= 0, offset < count else { preconditionFailure("entry \(offset) of \(count)") }
        var rest = offset
        while node.level > 0 {
            let (index, inside) = node.branch(at: rest)
            (node, rest) = (node.branches[index].node, inside)
        }
        return (Self.leaf(node), rest)
    }
}
