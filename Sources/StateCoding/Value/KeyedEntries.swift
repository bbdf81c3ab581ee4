/// The fields of a patch, sorted by their canonical keys.
///
/// Two parallel arrays: the keys are searched without touching the elements.
struct KeyedEntries<Element> {
    private(set) var keys: [Value] = []
    private(set) var elements: [Element] = []

    var count: Int { keys.count }

    init() {}

    /// Sorts entries whose keys are canonical already.
    ///
    /// - Throws: `duplicateKey` if one key comes twice.
    init(canonical entries: [(key: Value, element: Element)]) throws(CodingFailure) {
        keys.reserveCapacity(entries.count)
        elements.reserveCapacity(entries.count)
        let sorted = zip(entries, entries.dropFirst()).allSatisfy { $0.key.precedes($1.key) }
        for (key, element) in sorted ? entries : entries.sorted(by: { $0.key.precedes($1.key) }) {
            if keys.last?.order(key) == 0 {
                throw CodingFailure(.duplicateKey, "the key \(key.summary) comes twice in one map; keys must differ")
            }
            keys.append(key)
            elements.append(element)
        }
    }

    /// The index of a canonical key, or the index to insert it at.
    func position(of key: Value) -> (index: Int, found: Bool) {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle].precedes(key) { low = middle + 1 } else { high = middle }
        }
        return (low, low < keys.count && keys[low].order(key) == 0)
    }

    func element(for key: Value) -> Element? {
        let (index, found) = position(of: key)
        return found ? elements[index] : nil
    }

    /// Sets, or with `nil` removes, the element of a canonical key.
    mutating func set(_ key: Value, _ element: Element?) {
        let (index, found) = position(of: key)
        switch (element, found) {
        case (let element?, true): elements[index] = element
        case (let element?, false):
            keys.insert(key, at: index)
            elements.insert(element, at: index)
        case (nil, true):
            keys.remove(at: index)
            elements.remove(at: index)
        case (nil, false): break
        }
    }

    /// Changes the element at an index in place.
    mutating func update<Failure: Error>(
        at index: Int,
        _ body: (inout Element) throws(Failure) -> Void
    ) throws(Failure) {
        try body(&elements[index])
    }

    /// Sets and removes many elements, sorted by key, in one pass. Inserting them one by one would move the rest each
    /// time.
    mutating func merge(_ changes: [(key: Value, element: Element?)]) {
        guard changes.count > 8 else {
            for (key, element) in changes { set(key, element) }
            return
        }
        var merged = KeyedEntries()
        merged.keys.reserveCapacity(count + changes.count)
        merged.elements.reserveCapacity(count + changes.count)
        var next = 0
        for (key, element) in changes {
            while next < count, keys[next].precedes(key) {
                merged.append(keys[next], elements[next])
                next += 1
            }
            if next < count, keys[next].order(key) == 0 { next += 1 }
            if let element { merged.append(key, element) }
        }
        while next < count {
            merged.append(keys[next], elements[next])
            next += 1
        }
        self = merged
    }

    /// Adds an entry that comes after all others.
    mutating func append(_ key: Value, _ element: Element) {
        keys.append(key)
        elements.append(element)
    }
}

extension KeyedEntries: Equatable where Element: Equatable {}
extension KeyedEntries: Hashable where Element: Hashable {}
extension KeyedEntries: Sendable where Element: Sendable {}
