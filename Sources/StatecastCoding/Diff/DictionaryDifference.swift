extension Dictionary: PartwiseDiffable where Key: Encodable, Value: Encodable {
    /// Writes the change between two dictionaries: one comparison for each entry.
    ///
    /// A changed copy keeps the order of its original, but for some entries near an insertion or a removal. So the
    /// entries are compared in step, and a key is looked up only where the orders differ.
    static func writeChange(from old: Self, to new: Self, of part: ChangedPart) throws -> Bool {
        let changes = try EntryChanges<Key, Value>(of: part)
        let areEqual = changes.areEqual
        var entries = EntryReader(old)
        var (keys, values) = (new.keys.makeIterator(), new.values.makeIterator())
        var matched = 0
        var removed: [(key: Key, value: Value)] = []
        next: while let key = keys.next(), let after = values.next() {
            while entries.read() {
                let oldKey = entries.takeKey()
                if oldKey == key {
                    matched += 1
                    let before = entries.takeValue()
                    if areEqual?(before, after) != true { try changes.change(key, from: before, to: after) }
                    continue next
                }
                if new.index(forKey: oldKey) == nil {
                    removed.append((oldKey, entries.takeValue()))
                } else if let before = old[key] {
                    matched += 1
                    _ = entries.takeValue()
                    if areEqual?(before, after) != true { try changes.change(key, from: before, to: after) }
                    continue next
                } else {
                    entries.putBack(oldKey)
                    break
                }
            }
            if let before = old[key] {
                matched += 1
                if areEqual?(before, after) != true { try changes.change(key, from: before, to: after) }
            } else {
                try changes.insert(key, after)
            }
        }
        // As an untyped value, a map without a key of the old one is indistinguishable from an enum that changed its
        // case, so it must be replaced.
        if matched == 0 && !old.isEmpty {
            changes.rollBack()
            return try part.writeDifferenceOfTrees(from: old, to: new)
        }
        while matched + removed.count < old.count, entries.read() {
            let (key, value) = (entries.takeKey(), entries.takeValue())
            if new.index(forKey: key) == nil { removed.append((key, value)) }
        }
        for (key, value) in removed { try changes.remove(key, value) }
        return try changes.finish(from: old.count, to: new.count)
    }
}

/// Takes the entries of a dictionary in their order, and reads up to 32 ahead.
///
/// In a large dictionary, the first access to the reference count of a value waits for the memory. The processor waits
/// for several at once if it does little else in between: reading ahead takes a third off the time of a difference of
/// 100,000 entries with texts on the heap.
// The methods are inlined because a call would look up the metadata of the type.
private struct EntryReader<Key: Hashable, Value>: ~Copyable {
    private var unreadKeys: Dictionary<Key, Value>.Keys.Iterator
    private var unreadValues: Dictionary<Key, Value>.Values.Iterator
    private let capacity: Int
    private let keys: UnsafeMutablePointer<Key>
    private let values: UnsafeMutablePointer<Value>
    /// The number of entries that were read ahead, and how many of their keys and values were taken.
    private var count = 0
    private var takenKeys = 0
    private var takenValues = 0

    @inline(__always)
    init(_ dictionary: [Key: Value]) {
        unreadKeys = dictionary.keys.makeIterator()
        unreadValues = dictionary.values.makeIterator()
        capacity = min(32, dictionary.count)
        keys = .allocate(capacity: capacity)
        values = .allocate(capacity: capacity)
    }

    deinit {
        (keys + takenKeys).deinitialize(count: count - takenKeys)
        (values + takenValues).deinitialize(count: count - takenValues)
        keys.deallocate()
        values.deallocate()
    }

    /// Reads entries ahead if all were taken.
    ///
    /// - Returns: Whether there is an entry to take.
    @inline(__always)
    mutating func read() -> Bool {
        if takenKeys < count { return true }
        (count, takenKeys, takenValues) = (0, 0, 0)
        while count < capacity, let key = unreadKeys.next() {
            (keys + count).initialize(to: consume key)
            count += 1
        }
        for offset in 0..<count {
            guard let value = unreadValues.next() else { preconditionFailure("a dictionary has a value for each key") }
            (values + offset).initialize(to: consume value)
        }
        return count > 0
    }

    /// The key of the next entry.
    ///
    /// - Precondition: There is an entry, and the value of the last one was taken.
    @inline(__always)
    mutating func takeKey() -> Key {
        precondition(takenKeys < count && takenKeys == takenValues, "key \(takenKeys) of \(count) cannot be taken")
        defer { takenKeys += 1 }
        return (keys + takenKeys).move()
    }

    /// The value of the entry whose key was taken.
    @inline(__always)
    mutating func takeValue() -> Value {
        precondition(takenValues < takenKeys, "value \(takenValues) of \(count) cannot be taken")
        defer { takenValues += 1 }
        return (values + takenValues).move()
    }

    /// Returns the key of an entry whose value was not taken.
    @inline(__always)
    mutating func putBack(_ key: consuming Key) {
        precondition(takenValues < takenKeys, "key \(takenKeys) of \(count) cannot be put back")
        takenKeys -= 1
        (keys + takenKeys).initialize(to: key)
    }
}
