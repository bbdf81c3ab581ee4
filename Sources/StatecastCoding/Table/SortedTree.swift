/// Elements sorted by key: a B-tree with value semantics, whose copies share the nodes that did not change since.
///
/// Copies cost O(1), changes O(log n): they copy only nodes that other copies still use. Only the leaves hold elements.
/// An empty tree has no memory, a small one has one node.
@usableFromInline
struct SortedTree<Order: KeyOrder, Payload> {
    @usableFromInline
    typealias Key = Order.Key
    @usableFromInline
    typealias Leaf = TypedTreeNode<Key, Payload>
    @usableFromInline
    typealias Inner = TypedTreeNode<Key, TreeBranch>

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

    /// Whether both are copies of one tree, unchanged since. Equal trees need not be identical.
    func isIdentical(to other: SortedTree) -> Bool { root === other.root }

    /// The most entries of a leaf; fewer if they are large, as a change copies a leaf and a difference compares its
    /// entries.
    static var maxEntries: Int {
        Swift.max(8, Swift.min(32, 1024 / (MemoryLayout<Key>.stride + MemoryLayout<Payload>.stride)))
    }

    // Safe: callers check the level, which is 0 for leaves only, and all nodes of a tree have its types.
    @inlinable
    static func leaf(_ node: TreeNode) -> Leaf { unsafeDowncast(node, to: Leaf.self) }
    @inlinable
    static func inner(_ node: TreeNode) -> Inner { unsafeDowncast(node, to: Inner.self) }
}

/// A node changes only while a single tree refers to it (`SortedTree.own`); shared nodes are only read.
extension SortedTree: @unchecked Sendable where Order.Key: Sendable, Payload: Sendable {}

// MARK: Looking up

extension SortedTree {
    /// The element of a key.
    ///
    /// The subscript changes the element in place, without a second owner. Setting `nil` removes the key; an existing
    /// equal key is not replaced.
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
            var element: Payload?
            if contains(key) {
                let (leaf, index, offset) = ownEntry(of: key)
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

    /// Whether a key exists. It counts no references on its way.
    @inlinable
    func contains(_ key: Key) -> Bool {
        guard let root else { return false }
        var node = Unmanaged.passUnretained(root)
        while true {
            let (below, isFound) = node._withUnsafeGuaranteedRef { node -> (Unmanaged<TreeNode>?, Bool) in
                guard node.level > 0 else { return (nil, Self.leaf(node).position(of: key, in: Order.self).found) }
                let branch = Self.inner(node).range(of: key, in: Order.self)
                return (Unmanaged.passUnretained(node.branches[branch].node), false)
            }
            guard let below else { return isFound }
            node = below
        }
    }

    /// The offset of a key, or the offset at which it would be inserted.
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

    func entry(at offset: Int) -> (key: Key, element: Payload) {
        let (leaf, index) = leaf(at: offset)
        return (leaf.keys[index], leaf.payloads[index])
    }

    func key(at offset: Int) -> Key {
        let (leaf, index) = leaf(at: offset)
        return leaf.keys[index]
    }

    /// The element at an offset, which changes in place.
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

// MARK: Changes

extension SortedTree {
    /// Sets the element of a key.
    ///
    /// - Returns: The old element.
    @discardableResult
    mutating func updateValue(_ element: Payload, forKey key: Key) -> Payload? {
        guard contains(key) else {
            insert(key, element)
            return nil
        }
        let (leaf, index, _) = ownEntry(of: key)
        let old = leaf.lend(at: index)
        leaf.giveBack(element, at: index)
        return old
    }

    /// Changes the elements of many keys. Where keys ascend, those of one leaf need a single descent.
    ///
    /// The closures return no optionals and tuples, whose types would be looked up for each key.
    ///
    /// - Parameters:
    ///   - next: Initializes the next key; returns `false` at the end.
    ///   - change: Changes the element of a key in place.
    ///   - insert: The element of a key that does not exist.
    mutating func update(
        _ next: (UnsafeMutablePointer<Key>) throws -> Bool,
        change: (Key, inout Payload) throws -> Void,
        insert: (Key) throws -> Payload
    ) rethrows {
        try withUnsafeTemporaryAllocation(of: Key.self, capacity: 1) { slot in
            guard let key = slot.baseAddress else { return }
            var last: Leaf?
            while try next(key) {
                defer { key.deinitialize(count: 1) }
                if let leaf = last, leaf.spans(key.pointee, in: Order.self) {
                    let (index, isFound) = leaf.position(of: key.pointee, in: Order.self)
                    if isFound {
                        try change(key.pointee, &leaf.payloads[index])
                        continue
                    }
                }
                // A second reference would have the leaf copied.
                last = nil
                if contains(key.pointee) {
                    let (leaf, index, _) = ownEntry(of: key.pointee)
                    try change(key.pointee, &leaf.payloads[index])
                    last = leaf
                } else {
                    self.insert(key.pointee, try insert(key.pointee))
                }
            }
        }
    }

    /// Removes a key, if it exists.
    ///
    /// - Returns: Its element.
    @discardableResult
    mutating func removeValue(forKey key: Key) -> Payload? {
        let (offset, found) = position(of: key)
        return found ? remove(at: offset).element : nil
    }

    /// Removes the entry at an offset.
    @discardableResult
    mutating func remove(at offset: Int) -> (key: Key, element: Payload) {
        let (leaf, index) = ownLeaf(at: offset)
        let entry = (leaf.keys[index], leaf.lend(at: index))
        closeGap(at: offset)
        return entry
    }

    /// Inserts a key that does not exist yet.
    @usableFromInline
    mutating func insert(_ key: Key, _ element: Payload) {
        count += 1
        guard root != nil else {
            let leaf = Leaf(level: 0, room: 1)
            leaf.insert(key, element, at: 0)
            root = leaf
            return
        }
        guard var node = take() else { return }
        if let split = Self.insert(key, element, into: &node, isLast: true) {
            let above = Inner(level: Int(node.level) + 1, room: 4)
            above.insert(split.key, TreeBranch(node: node, count: count - split.branch.count), at: 0)
            above.insert(split.key, split.branch, at: 1)
            node = above
        }
        root = node
    }

    /// Removes the entry at an offset, whose element has been moved out.
    @usableFromInline
    mutating func closeGap(at offset: Int) {
        count -= 1
        guard var node = take() else { return }
        Self.closeGap(at: offset, in: &node)
        while node.level > 0, node.width == 1 { node = node.branches[0].node }
        if node.width > 0 { root = node }
    }

    /// The leaf of the entry at an offset, and its index there. This tree is the only owner of all nodes on the path.
    @inlinable
    mutating func ownLeaf(at offset: Int) -> (leaf: Leaf, index: Int) {
        guard offset >= 0, offset < count, var node = take() else { preconditionFailure("entry \(offset) of \(count)") }
        Self.own(&node)
        root = node
        var rest = offset
        while node.level > 0 {
            let (index, inside) = node.branch(at: rest)
            Self.own(&node.branches[index].node)
            (node, rest) = (node.branches[index].node, inside)
        }
        return (Self.leaf(node), rest)
    }

    /// The leaf of a key, its index there, and its offset. This tree is the only owner of all nodes on the path.
    ///
    /// - Precondition: The key exists.
    @inlinable
    mutating func ownEntry(of key: Key) -> (leaf: Leaf, index: Int, offset: Int) {
        guard var node = take() else { preconditionFailure("an empty tree has no entry") }
        Self.own(&node)
        root = node
        var offset = 0
        while node.level > 0 {
            let index = Self.inner(node).range(of: key, in: Order.self)
            for before in 0..<index { offset += node.branches[before].count }
            Self.own(&node.branches[index].node)
            node = node.branches[index].node
        }
        let leaf = Self.leaf(node)
        let (index, isFound) = leaf.position(of: key, in: Order.self)
        // An order that changes meanwhile may have hidden the key.
        guard isFound else { preconditionFailure("expected one order of keys, got another one during an access") }
        return (leaf, index, offset + index)
    }

    /// Takes the root out, so that it has one owner.
    @inlinable
    mutating func take() -> TreeNode? {
        defer { root = nil }
        return root
    }

    /// Copies the node if the tree with this reference is not its only owner, or if it lacks room for more entries.
    @usableFromInline
    static func own(_ node: inout TreeNode, room more: Int = 0) {
        let isOwned = isKnownUniquelyReferenced(&node)
        let needed = node.width + more
        let fits = needed <= node.room
        if isOwned && fits { return }
        let maxWidth = node.level == 0 ? maxEntries : TreeNode.maxBranches
        let room = fits ? needed : Swift.max(needed, Swift.min(maxWidth, Swift.max(4, node.width * 2)))
        if node.level == 0 {
            node = isOwned ? leaf(node).split(at: 0, room: room) : leaf(node).copy(room: room)
        } else {
            node = isOwned ? inner(node).split(at: 0, room: room) : inner(node).copy(room: room)
        }
    }

    // MARK: Insertion

    /// The right part of a node that was split.
    private typealias Split = (key: Key, branch: TreeBranch)

    /// Inserts a key that does not exist yet.
    ///
    /// - Parameter isLast: Whether the node is the last of its level. A full last node is not split: a new entry after
    ///   it goes into a new node, so that keys that come in order fill the nodes.
    /// - Returns: The right part of the node, if it was split.
    private static func insert(_ key: Key, _ element: Payload, into node: inout TreeNode, isLast: Bool) -> Split? {
        if node.level == 0 {
            own(&node, room: node.width < maxEntries ? 1 : 0)
            let leaf = leaf(node)
            let index = leaf.position(of: key, in: Order.self).index
            let tail = leaf.insert(key, element, at: index, max: maxEntries, isLast: isLast)
            return tail.map { ($0.keys[0], TreeBranch(node: $0, count: $0.width)) }
        }
        own(&node, room: node.width < TreeNode.maxBranches ? 1 : 0)
        let inner = inner(node)
        let index = inner.range(of: key, in: Order.self)
        let split = insert(
            key,
            element,
            into: &inner.payloads[index].node,
            isLast: isLast && index == inner.width - 1
        )
        inner.payloads[index].count += 1 - (split?.branch.count ?? 0)
        guard let split else { return nil }
        let tail = inner.insert(split.key, split.branch, at: index + 1, max: TreeNode.maxBranches, isLast: isLast)
        return tail.map { ($0.keys[0], TreeBranch(node: $0, count: $0.total)) }
    }

    // MARK: Removal

    /// Removes the entry at an offset, whose element has been moved out, and joins narrow nodes.
    ///
    /// - Precondition: The tree is the only owner of all nodes on the path. They cannot be copied while an element is
    ///   missing.
    private static func closeGap(at offset: Int, in node: inout TreeNode) {
        if node.level == 0 { return leaf(node).closeGap(at: offset) }
        let inner = inner(node)
        let (index, rest) = inner.branch(at: offset)
        closeGap(at: rest, in: &inner.payloads[index].node)
        inner.payloads[index].count -= 1
        tidy(inner, around: index)
    }

    /// Removes an empty branch, or joins it with a neighbour if both together fill at most half a node. Nodes stay a
    /// quarter full on average, and have room for the next insertions.
    private static func tidy(_ inner: Inner, around index: Int) {
        let node = inner.payloads[index].node
        if node.width == 0 { return inner.remove(at: index) }
        let maxWidth = (node.level == 0 ? maxEntries : TreeNode.maxBranches) / 2
        if index + 1 < inner.width, node.width + inner.payloads[index + 1].node.width <= maxWidth {
            join(inner, index)
        } else if index > 0, node.width + inner.payloads[index - 1].node.width <= maxWidth {
            join(inner, index - 1)
        }
    }

    /// Joins the branch at an index with the next one.
    private static func join(_ inner: Inner, _ index: Int) {
        let right = inner.payloads[index + 1]
        own(&inner.payloads[index].node, room: right.node.width)
        let left = inner.payloads[index].node
        if left.level == 0 {
            leaf(left).append(leaf(right.node))
        } else {
            let first = left.width
            self.inner(left).append(self.inner(right.node))
            // The first key of a node is not used. Here it becomes a divider.
            self.inner(left).keys[first] = inner.keys[index + 1]
        }
        inner.payloads[index].count += right.count
        inner.remove(at: index + 1)
    }
}

extension TypedTreeNode {
    /// Inserts an entry; a full buffer is split.
    ///
    /// - Returns: The right part, if it was split.
    fileprivate func insert(_ key: Key, _ payload: Payload, at index: Int, max: Int, isLast: Bool) -> TypedTreeNode? {
        if width < max {
            insert(key, payload, at: index)
            return nil
        }
        let isEnd = isLast && index == width
        let tail = split(at: isEnd ? width : width / 2, room: max)
        if isEnd || index > width {
            tail.insert(key, payload, at: index - width)
        } else {
            insert(key, payload, at: index)
        }
        return tail
    }
}

// MARK: Iteration

/// The entries in the order of their keys.
extension SortedTree: Sequence {
    @usableFromInline
    struct Iterator: IteratorProtocol {
        /// Retains the nodes that the cursor points into.
        private let tree: SortedTree
        private var cursor: TreeCursor
        @usableFromInline private(set) var keys: UnsafeMutablePointer<Key>?
        @usableFromInline private(set) var payloads: UnsafeMutablePointer<Payload>?
        @usableFromInline var index = 0
        @usableFromInline private(set) var width = 0

        init(_ tree: SortedTree) {
            self.tree = tree
            cursor = TreeCursor(tree.root)
            enterLeaf()
        }

        @inlinable
        mutating func next() -> (key: Key, element: Payload)? {
            if index == width {
                guard width > 0 else { return nil }
                leaveLeaf()
            }
            guard let keys, let payloads else { return nil }
            defer { index += 1 }
            return (keys[index], payloads[index])
        }

        @usableFromInline
        mutating func leaveLeaf() {
            cursor.skip(level: 0)
            enterLeaf()
        }

        private mutating func enterLeaf() {
            while cursor.level >= 0 { cursor.descend() }
            keys = cursor.leaf?.keys.assumingMemoryBound(to: Key.self)
            payloads = cursor.leaf?.payloads.assumingMemoryBound(to: Payload.self)
            index = 0
            width = cursor.leaf?.width ?? 0
        }
    }

    @usableFromInline
    func makeIterator() -> Iterator { Iterator(self) }

    @usableFromInline
    var underestimatedCount: Int { count }
}

// MARK: Order

/// An order of keys as a type, so that it takes no memory in a tree, and two trees of one type have the same order.
///
/// Two keys are the same if neither precedes the other. An inconsistent order (NaN among floats) gives wrong results,
/// but is memory-safe.
@usableFromInline
protocol KeyOrder<Key> {
    associatedtype Key

    static func precedes(_ left: Key, _ right: Key) -> Bool

    /// Whether neither key precedes the other.
    static func areEqual(_ left: Key, _ right: Key) -> Bool
}

/// The order of `<`.
@usableFromInline
enum AscendingOrder<Key: Comparable>: KeyOrder {
    @inlinable
    static func precedes(_ left: Key, _ right: Key) -> Bool { left < right }

    @inlinable
    static func areEqual(_ left: Key, _ right: Key) -> Bool { left == right }
}
