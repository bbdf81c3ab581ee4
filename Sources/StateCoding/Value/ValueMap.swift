/// A map from any value to any value, in the order of the encoded keys (RFC 8949, section 4.2.1).
///
/// Keys are kept in canonical form (text in NFC), so that one key has one spelling on every machine. Lookups take
/// O(log n); copies are shared until one of them is changed.
public struct ValueMap: Hashable, Sendable {
    var entries: KeyedEntries<Value>

    init(entries: KeyedEntries<Value>) {
        self.entries = entries
    }

    /// The empty map.
    public init() {
        entries = KeyedEntries()
    }

    /// The map of these entries; of two with one key the later stays.
    public init(_ entries: some Sequence<(Value, Value)>) {
        self.init()
        for (key, value) in entries { self[key] = value }
    }

    /// The map of entries whose keys must differ. O(n log n) in any order, O(n) when they are sorted.
    ///
    /// - Throws: `duplicateKey`.
    package init(unique entries: [(key: Value, element: Value)]) throws(CodingFailure) {
        self.entries = try KeyedEntries(canonical: entries.map { ($0.key.canonical, $0.element) })
    }

    /// The value of a key; setting `nil` removes it. (The value `.null` is a value.)
    public subscript(key: Value) -> Value? {
        get { entries.element(for: key.canonical) }
        set { entries.set(key.canonical, newValue) }
    }

    /// The keys, in order.
    public var keys: [Value] { entries.keys }

    func mapValues(_ transform: (Value) -> Value) -> ValueMap {
        ValueMap(entries: entries.mapElements(transform))
    }
}

extension ValueMap: BidirectionalCollection {
    /// A place in the order of the keys; not a number, which would be mistaken for a key.
    public struct Index: Comparable, Sendable {
        let offset: Int

        /// Whether a place comes first.
        public static func < (left: Index, right: Index) -> Bool { left.offset < right.offset }
    }

    /// The place of the first entry.
    public var startIndex: Index { Index(offset: 0) }
    /// The place behind the last entry.
    public var endIndex: Index { Index(offset: entries.count) }
    /// How many entries there are.
    public var count: Int { entries.count }

    /// The next place.
    public func index(after index: Index) -> Index { Index(offset: index.offset + 1) }
    /// The place before.
    public func index(before index: Index) -> Index { Index(offset: index.offset - 1) }

    /// The entry at a place in the order of the encoded keys.
    public subscript(place: Index) -> (key: Value, value: Value) {
        (entries.keys[place.offset], entries.elements[place.offset])
    }
}

extension ValueMap: ExpressibleByDictionaryLiteral {
    /// The map of these entries; of two with one key the later stays.
    public init(dictionaryLiteral elements: (Value, Value)...) {
        self.init(elements)
    }
}
