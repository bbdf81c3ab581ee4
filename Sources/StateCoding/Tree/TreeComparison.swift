/// Walks two trees side by side and shows the entries of nodes that they do not share.
///
/// Trees that came of one another differ in few nodes, but these may lie elsewhere in the other one: nodes split, join and
/// move. So the nodes are found by their places in the order of the keys: wherever both walks stand before the same
/// node, at whatever level, both go past it. One walk waits at the first entry of a leaf until the other gets there, so
/// they meet there again at the latest.
struct TreeComparison<Order: KeyOrder, Payload> {
    private let trees: (old: SortedTree<Order, Payload>, new: SortedTree<Order, Payload>)
    private var old: TreeCursor
    private var new: TreeCursor
    /// How many nodes were gone into or past, and how many entries looked at.
    private(set) var steps = 0

    init(from old: SortedTree<Order, Payload>, to new: SortedTree<Order, Payload>) {
        trees = (old, new)
        self.old = TreeCursor(old.root)
        self.new = TreeCursor(new.root)
    }

    /// Shows each key of those nodes with its old and its new element. They may be equal, but not to the bit.
    mutating func run<Failure: Error>(
        _ visit: (Order.Key, Payload?, Payload?) throws(Failure) -> Void
    ) throws(Failure) {
        defer { withExtendedLifetime(trees) {} }
        while !old.isAtEnd || !new.isAtEnd {
            let level = max(old.level, new.level)
            if level >= 0 { pass(level) } else { try show(visit) }
        }
    }

    /// Goes past the node of this level if both stand before it, else into the one or two of this level.
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

    /// Shows the entry that comes first, or both if their keys are the same. An ended walk has none.
    private mutating func show<Failure: Error>(
        _ visit: (Order.Key, Payload?, Payload?) throws(Failure) -> Void
    ) throws(Failure) {
        if passSame() { return }
        steps += 1
        let (before, after) = (Entry(old), Entry(new))
        switch (before, after) {
        case (let before?, let after?):
            if Order.precedes(before.key, after.key) {
                try visit(before.key, before.payload, nil)
                old.advance()
            } else if Order.precedes(after.key, before.key) {
                try visit(after.key, nil, after.payload)
                new.advance()
            } else {
                try visit(after.key, before.payload, after.payload)
                old.advance()
                new.advance()
            }
        case (let before?, nil):
            try visit(before.key, before.payload, nil)
            old.advance()
        case (nil, let after?):
            try visit(after.key, nil, after.payload)
            new.advance()
        case (nil, nil): break
        }
    }

    /// An entry where it lies.
    private struct Entry {
        private let keys: UnsafeMutablePointer<Order.Key>
        private let payloads: UnsafeMutablePointer<Payload>

        init?(_ cursor: TreeCursor) {
            guard let leaf = cursor.leaf else { return nil }
            keys = leaf.keys.assumingMemoryBound(to: Order.Key.self) + cursor.index
            payloads = leaf.payloads.assumingMemoryBound(to: Payload.self) + cursor.index
        }

        var key: Order.Key { keys.pointee }
        var payload: Payload { payloads.pointee }
    }

    /// Goes past entries that are the same to the bit, as most of a copied leaf are. What is not the same to the bit may
    /// still be equal: memory between fields is nobody's.
    private mutating func passSame() -> Bool {
        guard let before = old.leaf, let after = new.leaf else { return false }
        let (keyStride, payloadStride) = (MemoryLayout<Order.Key>.stride, MemoryLayout<Payload>.stride)
        let (keySize, payloadSize) = (MemoryLayout<Order.Key>.size, MemoryLayout<Payload>.size)
        let most = min(before.width - old.index, after.width - new.index)
        var same = 0
        while same < most,
            isSame(before.keys + (old.index + same) * keyStride, after.keys + (new.index + same) * keyStride, keySize),
            isSame(
                before.payloads + (old.index + same) * payloadStride,
                after.payloads + (new.index + same) * payloadStride,
                payloadSize
            )
        {
            same += 1
        }
        guard same > 0 else { return false }
        steps += same
        old.advance(by: same)
        new.advance(by: same)
        return true
    }
}

/// Whether two stretches of memory hold the same bits.
private func isSame(_ left: UnsafeMutableRawPointer, _ right: UnsafeMutableRawPointer, _ count: Int) -> Bool {
    var offset = 0
    while offset + 8 <= count {
        if left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            != right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        {
            return false
        }
        offset += 8
    }
    while offset < count {
        if left.load(fromByteOffset: offset, as: UInt8.self) != right.load(fromByteOffset: offset, as: UInt8.self) {
            return false
        }
        offset += 1
    }
    return true
}

extension SortedTree {
    /// Shows the keys whose elements may differ, in their order: O(touched) for trees of which one came of the other.
    ///
    /// A key of both trees is shown with both elements, equal ones too if neither their nodes nor their bits are the same.
    static func differences<Failure: Error>(
        from old: SortedTree,
        to new: SortedTree,
        _ visit: (Key, Payload?, Payload?) throws(Failure) -> Void
    ) throws(Failure) {
        var comparison = TreeComparison(from: old, to: new)
        try comparison.run(visit)
    }

    /// Whether both have the same keys with the same elements.
    func isEqual(to other: SortedTree, by same: (Payload, Payload) -> Bool) -> Bool {
        guard count == other.count else { return false }
        if isIdentical(to: other) { return true }
        do {
            try Self.differences(from: self, to: other) { (_, old, new) throws(Unequal) in
                guard let old, let new, same(old, new) else { throw Unequal() }
            }
            return true
        } catch {
            return false
        }
    }
}

private struct Unequal: Error {}
