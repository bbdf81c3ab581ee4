/// A map from any value to any value, in the order of the encoded keys (RFC 8949, section 4.2.1).
///
/// Keys are kept in canonical form (text in NFC), so that one key has one spelling on every machine. Lookups and
/// changes take O(log n), copies O(1). Copies share their unchanged parts, and comparisons skip these.
public struct ValueMap: Sendable {
    typealias Entries = SortedTree<CanonicalOrder, Value>

    var entries: Entries

    init(entries: Entries) {
        self.entries = entries
    }

    /// The empty map.
    public init() {
        entries = Entries()
    }

    /// The map of these entries; a later entry replaces an earlier one with the same key.
    public init(_ entries: some Sequence<(Value, Value)>) {
        self.entries = Entries(entries.lazy.map { ($0.0.canonical, $0.1) }) { _, later in later }
    }

    /// The map of entries whose keys must differ. O(n log n) in any order, O(n) when they are sorted.
    ///
    /// - Throws: `duplicateKey`.
    package init(unique entries: [(key: Value, element: Value)]) throws(CodingFailure) {
        var builder = SortedTreeBuilder<CanonicalOrder, Value>(count: entries.count)
        for (key, element) in entries {
            guard builder.append(key.canonical, element) else {
                self.entries = try Self.sorted(entries)
                return
            }
        }
        self.entries = builder.finish()
    }

    private static func sorted(_ entries: [(key: Value, element: Value)]) throws(CodingFailure) -> Entries {
        var builder = SortedTreeBuilder<CanonicalOrder, Value>(count: entries.count)
        let canonical = entries.map { (key: $0.key.canonical, element: $0.element) }
        for (key, element) in canonical.sorted(by: { $0.key.precedes($1.key) }) {
            guard builder.append(key, element) else {
                throw CodingFailure(.duplicateKey, "the key \(key.summary) comes twice in one map; keys must differ")
            }
        }
        return builder.finish()
    }

    /// The value of a key; setting `nil` removes it. (The value `.null` is a value.)
    public subscript(key: Value) -> Value? {
        get { entries[key.canonical] }
        _modify { yield &entries[key.canonical] }
    }

    /// The keys, in order.
    public var keys: [Value] { entries.map(\.key) }

    func mapValues(_ transform: (Value) -> Value) -> ValueMap {
        ValueMap(entries: entries.mapElements(transform))
    }
}

/// The order of canonical keys by their encodings.
enum CanonicalOrder: KeyOrder {
    static func precedes(_ left: Value, _ right: Value) -> Bool { left.precedes(right) }
    static func areEqual(_ left: Value, _ right: Value) -> Bool { left.order(right) == 0 }
}

extension ValueMap: Hashable {
    /// Whether both have equal values under equal keys.
    public static func == (left: ValueMap, right: ValueMap) -> Bool {
        left.entries.isEqual(to: right.entries, by: ==)
    }

    /// Hashes all entries. O(n).
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for (key, element) in entries {
            hasher.combine(key)
            hasher.combine(element)
        }
    }
}

extension ValueMap: BidirectionalCollection {
    /// A position in the order of the keys. A distinct type, so that an index cannot be confused with an integer key.
    public struct Index: Comparable, Sendable {
        let offset: Int

        /// Whether the left position comes first.
        public static func < (left: Index, right: Index) -> Bool { left.offset < right.offset }
    }

    /// Visits all entries, each in O(1).
    public struct Iterator: IteratorProtocol {
        var base: Entries.Iterator

        /// The next entry.
        public mutating func next() -> (key: Value, value: Value)? {
            base.next().map { ($0.key, $0.element) }
        }
    }

    /// Visits the entries in the order of the encoded keys.
    public func makeIterator() -> Iterator { Iterator(base: entries.makeIterator()) }

    /// The position of the first entry.
    public var startIndex: Index { Index(offset: 0) }
    /// The position after the last entry.
    public var endIndex: Index { Index(offset: entries.count) }
    /// The number of entries.
    public var count: Int { entries.count }

    /// The next position.
    public func index(after index: Index) -> Index { Index(offset: index.offset + 1) }
    /// The previous position.
    public func index(before index: Index) -> Index { Index(offset: index.offset - 1) }

    /// The entry at a position. O(log n).
    public subscript(position: Index) -> (key: Value, value: Value) {
        let (key, element) = entries.entry(at: position.offset)
        return (key, element)
    }
}

extension ValueMap: ExpressibleByDictionaryLiteral {
    /// The map of these entries; a later entry replaces an earlier one with the same key.
    public init(dictionaryLiteral elements: (Value, Value)...) {
        self.init(elements)
    }
}
