extension SortedTree {
    /// Removes the place of the entry at an offset, which was lent. Narrow neighbours become one node.
    ///
    /// The tree owns all nodes on the way already, as it had to for lending. They must not be copied now: a payload is
    /// missing.
    static func closeGap(at offset: Int, in node: inout TreeNode) {
        if node.level == 0 { return leaf(node).closeGap(at: offset) }
        let inner = inner(node)
        let (index, rest) = inner.branch(at: offset)
        closeGap(at: rest, in: &inner.payloads[index].node)
        inner.payloads[index].count -= 1
        tidy(inner, around: index)
    }

    /// Drops a branch that has become empty, or joins it with a neighbour if both are narrow.
    ///
    /// Two neighbours are joined when they fill at most half a node: nodes stay a quarter full on average, and the next
    /// insertions find room.
    private static func tidy(_ inner: Inner, around index: Int) {
        let node = inner.payloads[index].node
        if node.width == 0 { return inner.remove(at: index) }
        let widthMax = (node.level == 0 ? entriesMax : TreeNode.branchesMax) / 2
        if index + 1 < inner.width, node.width + inner.payloads[index + 1].node.width <= widthMax {
            join(inner, index)
        } else if index > 0, node.width + inner.payloads[index - 1].node.width <= widthMax {
            join(inner, index - 1)
        }
    }

    /// Makes one branch of the one at an index and the next.
    private static func join(_ inner: Inner, _ index: Int) {
        let right = inner.payloads[index + 1]
        own(&inner.payloads[index].node, room: right.node.width)
        let left = inner.payloads[index].node
        if left.level == 0 {
            leaf(left).append(leaf(right.node))
        } else {
            let first = left.width
            self.inner(left).append(self.inner(right.node))
            // The first key of a node is never asked for, so it may be any; here it divides.
            self.inner(left).keys[first] = inner.keys[index + 1]
        }
        inner.payloads[index].count += right.count
        inner.remove(at: index + 1)
    }
}
