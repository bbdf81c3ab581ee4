extension SortedTree {
    /// What a node has split off to its right.
    typealias Split = (key: Key, branch: TreeBranch)

    /// Inserts a key that is not there yet.
    ///
    /// `isLast` says that no node is to the right of this one: there a full node stays full and the new entry opens
    /// another, so that keys that come in their order leave no half-empty nodes behind.
    ///
    /// - Returns: the right part of the node, if it had to be split.
    static func insert(_ key: Key, _ element: Payload, into node: inout TreeNode, isLast: Bool) -> Split? {
        if node.level == 0 {
            own(&node, room: node.width < entriesMax ? 1 : 0)
            let leaf = leaf(node)
            let index = leaf.position(of: key, in: Order.self).index
            let tail = leaf.insert(key, element, at: index, max: entriesMax, isLast: isLast)
            return tail.map { ($0.keys[0], TreeBranch(node: $0, count: $0.width)) }
        }
        own(&node, room: node.width < TreeNode.branchesMax ? 1 : 0)
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
        let tail = inner.insert(split.key, split.branch, at: index + 1, max: TreeNode.branchesMax, isLast: isLast)
        return tail.map { ($0.keys[0], TreeBranch(node: $0, count: $0.total)) }
    }
}

extension SortedBuffer {
    /// Inserts an entry; a buffer that is full gives its right part away.
    fileprivate func insert(_ key: Key, _ payload: Payload, at index: Int, max: Int, isLast: Bool) -> SortedBuffer? {
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
