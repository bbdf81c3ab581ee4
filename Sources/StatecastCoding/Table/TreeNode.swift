/// A node of a `SortedTree`: keys in order and, beside each, an element (in a leaf) or a branch.
///
/// Every node is a `TypedTreeNode`, which has the types of keys and elements. Code that only follows branches and
/// compares nodes, as a comparison of trees mostly does, is not generic and therefore fast.
///
/// A node changes only while a single tree refers to it. Shared nodes are read from any thread.
@usableFromInline
class TreeNode {
    /// 0 for a leaf.
    @usableFromInline final let level: Int32
    // A node changes only while a single tree refers to it, so dynamic exclusivity checks would find nothing.
    @usableFromInline @exclusivity(unchecked) final fileprivate(set) var widthStored: UInt16 = 0
    private final let roomStored: UInt16
    @usableFromInline final let keyMemory: UnsafeMutableRawPointer
    @usableFromInline final let payloadMemory: UnsafeMutableRawPointer

    fileprivate init(
        level: Int,
        room: Int,
        keyMemory: UnsafeMutableRawPointer,
        payloadMemory: UnsafeMutableRawPointer
    ) {
        self.level = Int32(level)
        roomStored = UInt16(room)
        self.keyMemory = keyMemory
        self.payloadMemory = payloadMemory
    }

    /// The number of keys.
    @usableFromInline
    final fileprivate(set) var width: Int {
        @inlinable get { Int(widthStored) }
        set { widthStored = UInt16(newValue) }
    }

    /// The number of keys that fit.
    final var room: Int { Int(roomStored) }

    /// The branches of an inner node.
    @inlinable
    final var branches: UnsafeMutablePointer<TreeBranch> {
        payloadMemory.assumingMemoryBound(to: TreeBranch.self)
    }
}

/// A child node, and the number of entries below it.
///
/// The key beside it separates its entries from those before; the key of the first branch is not used.
@usableFromInline
struct TreeBranch {
    @usableFromInline var node: TreeNode
    @usableFromInline var count: Int
}

extension TreeNode {
    /// A change copies one node for each level: wide nodes make that slow, narrow ones make many levels.
    static var maxBranches: Int { 32 }

    /// The branch with the entry at an offset, and the entry's offset in it.
    @inlinable
    final func branch(at offset: Int) -> (index: Int, rest: Int) {
        var rest = offset
        for index in 0..<width {
            let inside = branches[index].count
            if rest < inside { return (index, rest) }
            rest -= inside
        }
        preconditionFailure("offset \(offset) in a node of \(offset - rest) entries")
    }

    /// The number of entries below all branches.
    final var total: Int {
        var total = 0
        for index in 0..<width { total += branches[index].count }
        return total
    }
}

/// A typed node, which manages its memory. The first `width` keys and payloads are initialized, except for a payload
/// between `lend` and `giveBack`.
///
/// Keys and payloads share one allocation, as there are many small maps.
@usableFromInline
final class TypedTreeNode<Key, Payload>: TreeNode {
    init(level: Int, room: Int) {
        let alignment = max(MemoryLayout<Key>.alignment, MemoryLayout<Payload>.alignment)
        let payloadAlignment = MemoryLayout<Payload>.alignment
        let keyBytes = (MemoryLayout<Key>.stride * room + payloadAlignment - 1) & -payloadAlignment
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: keyBytes + MemoryLayout<Payload>.stride * room,
            alignment: alignment
        )
        memory.bindMemory(to: Key.self, capacity: room)
        (memory + keyBytes).bindMemory(to: Payload.self, capacity: room)
        super.init(level: level, room: room, keyMemory: memory, payloadMemory: memory + keyBytes)
    }

    deinit {
        keys.deinitialize(count: width)
        payloads.deinitialize(count: width)
        keyMemory.deallocate()
    }

    @inlinable
    var keys: UnsafeMutablePointer<Key> { keyMemory.assumingMemoryBound(to: Key.self) }
    @inlinable
    var payloads: UnsafeMutablePointer<Payload> { payloadMemory.assumingMemoryBound(to: Payload.self) }
}

// MARK: Changes by the only owner

extension TypedTreeNode {
    /// - Precondition: There is room.
    func insert(_ key: Key, _ payload: Payload, at index: Int) {
        precondition(width < room, "an entry for a full node of \(room)")
        (keys + index + 1).moveInitialize(from: keys + index, count: width - index)
        (payloads + index + 1).moveInitialize(from: payloads + index, count: width - index)
        (keys + index).initialize(to: key)
        (payloads + index).initialize(to: payload)
        width += 1
    }

    func remove(at index: Int) {
        (payloads + index).deinitialize(count: 1)
        closeGap(at: index)
    }

    /// Moves a payload out, so that its user is its only owner; `giveBack` or `closeGap` must follow.
    @inlinable
    func lend(at index: Int) -> Payload {
        (payloads + index).move()
    }

    /// Moves a payload back to its place.
    @inlinable
    func giveBack(_ payload: consuming Payload, at index: Int) {
        (payloads + index).initialize(to: payload)
    }

    /// Removes the entry whose payload was moved out.
    func closeGap(at index: Int) {
        (keys + index).deinitialize(count: 1)
        let rest = width - index - 1
        (keys + index).moveInitialize(from: keys + index + 1, count: rest)
        (payloads + index).moveInitialize(from: payloads + index + 1, count: rest)
        width -= 1
    }

    /// Appends copies of another buffer's entries.
    ///
    /// - Precondition: There is room.
    func append(_ other: TypedTreeNode) {
        precondition(width + other.width <= room, "\(other.width) entries for a node with \(width) of \(room)")
        (keys + width).initialize(from: other.keys, count: other.width)
        (payloads + width).initialize(from: other.payloads, count: other.width)
        width += other.width
    }

    /// Moves the entries from an index on into a new buffer.
    func split(at index: Int, room: Int) -> TypedTreeNode {
        let tail = TypedTreeNode(level: Int(level), room: room)
        let moved = width - index
        tail.keys.moveInitialize(from: keys + index, count: moved)
        tail.payloads.moveInitialize(from: payloads + index, count: moved)
        tail.width = moved
        width = index
        return tail
    }

    /// A buffer with copies of the entries.
    func copy(room: Int) -> TypedTreeNode {
        let copy = TypedTreeNode(level: Int(level), room: room)
        copy.append(self)
        return copy
    }
}

// MARK: Binary searches, which stay in bounds even if the order is inconsistent

extension TypedTreeNode {
    /// The index of a key, or the index at which it would be inserted.
    @inlinable
    func position<Order: KeyOrder<Key>>(of key: Key, in order: Order.Type) -> (index: Int, found: Bool) {
        var (low, high) = (0, width)
        while low < high {
            let middle = (low + high) / 2
            if Order.precedes(keys[middle], key) { low = middle + 1 } else { high = middle }
        }
        return (low, low < width && !Order.precedes(key, keys[low]))
    }

    /// Whether a key is not before the first key and not after the last.
    func spans<Order: KeyOrder<Key>>(_ key: Key, in order: Order.Type) -> Bool {
        width > 0 && !Order.precedes(key, keys[0]) && !Order.precedes(keys[width - 1], key)
    }

    /// The index of the entry whose range contains a key. Each range begins at its separator key; the first is
    /// unbounded below.
    @inlinable
    func range<Order: KeyOrder<Key>>(of key: Key, in order: Order.Type) -> Int {
        var (low, high) = (1, width)
        while low < high {
            let middle = (low + high) / 2
            if Order.precedes(key, keys[middle]) { high = middle } else { low = middle + 1 }
        }
        return low - 1
    }
}
