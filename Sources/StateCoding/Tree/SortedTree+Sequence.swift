/// The entries in the order of their keys.
extension SortedTree: Sequence {
    @usableFromInline
    struct Iterator: IteratorProtocol {
        /// Keeps the nodes that the cursor points into.
        private let tree: SortedTree
        private var cursor: TreeCursor
        @usableFromInline private(set) var keys: UnsafeMutablePointer<Key>?
        @usableFromInline private(set) var payloads: UnsafeMutablePointer<Payload>?
        @usableFromInline var index = 0
        @usableFromInline private(set) var width = 0

        init(_ tree: SortedTree, from offset: Int = 0) {
            self.tree = tree
            cursor = TreeCursor(offset < tree.count ? tree.root : nil)
            if offset > 0, offset < tree.count { cursor.descend(to: offset) }
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
            index = cursor.leaf == nil ? 0 : cursor.index
            width = cursor.leaf?.width ?? 0
        }
    }

    @usableFromInline
    func makeIterator() -> Iterator { Iterator(self) }

    @usableFromInline
    var underestimatedCount: Int { count }
}
