/// A node of a `SortedTree`: keys in order and, beside each, an element (in a leaf) or a branch.
///
/// The types of keys and elements are known to `SortedBuffer` alone, which every node is. What only follows branches and
/// tells nodes apart, as most of the way to a difference does, so costs nothing for being generic.
///
/// A node is changed only while a single tree refers to it; others, on other threads too, may read it otherwise.
@usableFromInline
class TreeNode {
    /// 0 for a leaf.
    @usableFromInline final let level: Int32
    @usableFromInline final fileprivate(set) var widthStored: UInt16 = 0
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

    /// How many keys there are.
    @usableFromInline
    final fileprivate(set) var width: Int {
        @inlinable get { Int(widthStored) }
        set { widthStored = UInt16(newValue) }
    }

    /// How many keys there is room for.
    final var room: Int { Int(roomStored) }

    /// The branches of a node that is no leaf.
    @inlinable
    final var branches: UnsafeMutablePointer<TreeBranch> {
        payloadMemory.assumingMemoryBound(to: TreeBranch.self)
    }
}

/// A node below another one, and how many entries are in it and below it.
///
/// The key beside it divides its entries from those before; that of the first branch is never asked for.
@usableFromInline
struct TreeBranch {
    @usableFromInline var node: TreeNode
    @usableFromInline var count: Int
}

extension TreeNode {
    /// What a change copies is one node a level: wide nodes make that dear, narrow ones make many levels.
    static var branchesMax: Int { 32 }

    /// The branch with the entry at an offset, and the entry's offset therein.
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

    /// How many entries are below all branches.
    final var total: Int {
        var total = 0
        for index in 0..<width { total += branches[index].count }
        return total
    }
}

/// A node with its types: the one place where raw memory is handled. The first `width` keys and payloads are
/// initialized, except for a payload that is out on loan.
///
/// Keys and payloads share one allocation, as small maps are many.
@usableFromInline
final class SortedBuffer<Key, Payload>: TreeNode {
    init(level: Int, room: Int) {
        let alignment = max(MemoryLayout<Key>.alignment, MemoryLayout<Payload>.alignment)
        let payloadAlignment = MemoryLayout<Payload>.alignment
        let keyBytes = (MemoryLayout<Key>.stride * room + payloadAlignment - 1) & -payloadAlignment
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: keyBytes + MemoryLayout<Payload>.stride * room,
            alignment: alignment
        )
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

// MARK: Changes, each by the only owner

extension SortedBuffer {
    /// Adds an entry; there must be room.
    func insert(_ key: Key, _ payload: Payload, at index: Int) {
        precondition(width < room, "an entry for a full node of \(room)")
        (keys + index + 1).moveInitialize(from: keys + index, count: width - index)
        (payloads + index + 1).moveInitialize(from: payloads + index, count: width - index)
        (keys + index).initialize(to: key)
        (payloads + index).initialize(to: payload)
        width += 1
    }

    /// Takes an entry out.
    func remove(at index: Int) {
        (payloads + index).deinitialize(count: 1)
        closeGap(at: index)
    }

    /// Moves a payload out, so that whoever changes it owns it alone; `giveBack` or `closeGap` must follow.
    @inlinable
    func lend(at index: Int) -> Payload {
        (payloads + index).move()
    }

    /// Puts the payload that was lent into its place.
    @inlinable
    func giveBack(_ payload: consuming Payload, at index: Int) {
        (payloads + index).initialize(to: payload)
    }

    /// Removes the entry whose payload was lent.
    func closeGap(at index: Int) {
        (keys + index).deinitialize(count: 1)
        let behind = width - index - 1
        (keys + index).moveInitialize(from: keys + index + 1, count: behind)
        (payloads + index).moveInitialize(from: payloads + index + 1, count: behind)
        width -= 1
    }

    /// Adds copies of another's entries behind the own ones; there must be room.
    func append(_ other: SortedBuffer) {
        precondition(width + other.width <= room, "\(other.width) entries for a node with \(width) of \(room)")
        // The bytes between fields, too, which `initialize` leaves as they are: what is the same is to be the same to the
        // bit, for `TreeComparison`.
        let bits = other.width * MemoryLayout<Payload>.stride
        UnsafeMutableRawPointer(payloads + width).copyMemory(from: other.payloads, byteCount: bits)
        (keys + width).initialize(from: other.keys, count: other.width)
        (payloads + width).initialize(from: other.payloads, count: other.width)
        width += other.width
    }

    /// Moves the entries from an index on into a new buffer.
    func split(at index: Int, room: Int) -> SortedBuffer {
        let tail = SortedBuffer(level: Int(level), room: room)
        let moved = width - index
        tail.keys.moveInitialize(from: keys + index, count: moved)
        tail.payloads.moveInitialize(from: payloads + index, count: moved)
        tail.width = moved
        width = index
        return tail
    }

    /// A buffer with copies of the entries.
    func copy(room: Int) -> SortedBuffer {
        let copy = SortedBuffer(level: Int(level), room: room)
        copy.append(self)
        return copy
    }
}

// MARK: Binary searches, which stay in bounds even where an order contradicts itself

extension SortedBuffer {
    /// Where a key is, or where it would be.
    @inlinable
    func position<Order: KeyOrder<Key>>(of key: Key, in order: Order.Type) -> (index: Int, found: Bool) {
        var (low, high) = (0, width)
        while low < high {
            let middle = (low + high) / 2
            if Order.precedes(keys[middle], key) { low = middle + 1 } else { high = middle }
        }
        return (low, low < width && !Order.precedes(key, keys[low]))
    }

    /// Which entry's range a key falls into, if each range starts with the key beside it and the first has no start.
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
