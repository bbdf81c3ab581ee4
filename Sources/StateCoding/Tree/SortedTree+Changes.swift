extension SortedTree {
    /// Sets the element of a key.
    ///
    /// - Returns: the one that it had.
    @discardableResult
    mutating func updateValue(_ element: Payload, forKey key: Key) -> Payload? {
        let (offset, found) = position(of: key)
        guard found else {
            insert(key, element)
            return nil
        }
        let (leaf, index) = ownLeaf(at: offset)
        let old = leaf.lend(at: index)
        leaf.giveBack(element, at: index)
        return old
    }

    /// Removes a key, if it is there.
    ///
    /// - Returns: its element.
    @discardableResult
    mutating func removeValue(forKey key: Key) -> Payload? {
        let (offset, found) = position(of: key)
        return found ? remove(at: offset).element : nil
    }

    /// Removes the entry at an offset, which must be one.
    @discardableResult
    mutating func remove(at offset: Int) -> (key: Key, element: Payload) {
        let (leaf, index) = ownLeaf(at: offset)
        let entry = (leaf.keys[index], leaf.lend(at: index))
        closeGap(at: offset)
        return entry
    }

    /// Adds a key that is not there yet.
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

    /// Removes the place of the entry at an offset, which was lent.
    @usableFromInline
    mutating func closeGap(at offset: Int) {
        count -= 1
        guard var node = take() else { return }
        Self.closeGap(at: offset, in: &node)
        while node.level > 0, node.width == 1 { node = node.branches[0].node }
        if node.width > 0 { root = node }
    }

    /// The leaf and place of the entry at an offset, owned by this tree alone all the way down.
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

    /// The root, leaving nothing: a second reference to it would look like another owner.
    @inlinable
    mutating func take() -> TreeNode? {
        defer { root = nil }
        return root
    }

    /// Makes the tree that holds this reference the only owner of the node, with room for more entries, by copying the
    /// node if need be.
    @usableFromInline
    static func own(_ node: inout TreeNode, room more: Int = 0) {
        let isOwned = isKnownUniquelyReferenced(&node)
        let needed = node.width + more
        let fits = needed <= node.room
        if isOwned && fits { return }
        let widthMax = node.level == 0 ? entriesMax : TreeNode.branchesMax
        let room = fits ? needed : Swift.max(needed, Swift.min(widthMax, Swift.max(4, node.width * 2)))
        if node.level == 0 {
            node = isOwned ? leaf(node).split(at: 0, room: room) : leaf(node).copy(room: room)
        } else {
            node = isOwned ? inner(node).split(at: 0, room: room) : inner(node).copy(room: room)
        }
    }
}
