/// What a change does to a `Summary`: parts taken away and parts added. Both are sums, so their order is free.
struct SummaryChange: Hashable, Sendable {
    enum Container { case array, map }

    private(set) var digest: UInt64 = 0
    private(set) var bytes = 0
    /// Kept for its memory only.
    private var scratch = CBORWriter()

    static func == (left: SummaryChange, right: SummaryChange) -> Bool {
        left.digest == right.digest && left.bytes == right.bytes
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
        hasher.combine(bytes)
    }

    mutating func add(_ value: Value, at path: DigestPath) { count(value, path, adding: true) }
    mutating func remove(_ value: Value, at path: DigestPath) { count(value, path, adding: false) }

    /// An entry of a map, its canonical key included.
    mutating func add(_ value: Value, under key: Value, in path: DigestPath) {
        count(value, keyed(key, path, adding: true), adding: true)
    }

    mutating func remove(_ value: Value, under key: Value, in path: DigestPath) {
        count(value, keyed(key, path, adding: false), adding: false)
    }

    /// Elements of an array, at the indexes of the slice.
    mutating func add(_ elements: ArraySlice<Value>, in path: DigestPath) {
        for index in elements.indices { add(elements[index], at: path.index(index)) }
    }

    mutating func remove(_ elements: ArraySlice<Value>, in path: DigestPath) {
        for index in elements.indices { remove(elements[index], at: path.index(index)) }
    }

    /// A container's own part after its count changed: a head, or a leaf if it is empty.
    mutating func resize(_ container: Container, from old: Int, to new: Int, at path: DigestPath) {
        guard old != new else { return }
        own(container, old, path, adding: false)
        own(container, new, path, adding: true)
    }

    mutating func combine(_ other: SummaryChange) {
        digest &+= other.digest
        bytes += other.bytes
    }

    /// A leaf that is canonical already, in CBOR.
    mutating func addLeaf(_ encoded: ArraySlice<UInt8>, at path: DigestPath) {
        weigh(encoded.count)
        digest &+= path.leaf(encoded)
    }

    mutating func count(_ value: Value, _ path: DigestPath, adding: Bool) {
        switch value {
        case .array(let elements):
            own(.array, elements.count, path, adding: adding)
            for (index, element) in elements.enumerated() { count(element, path.index(index), adding: adding) }
        case .map(let map):
            own(.map, map.count, path, adding: adding)
            for (key, element) in map { count(element, keyed(key, path, adding: adding), adding: adding) }
        default:
            leaf(value.canonical, path, adding: adding)
        }
    }

    mutating func own(_ container: Container, _ count: Int, _ path: DigestPath, adding: Bool) {
        if count == 0 {
            leaf(container == .array ? .array([]) : .map([:]), path, adding: adding)
        } else {
            weigh(CBORWriter.headBytes(count), adding: adding)
        }
    }

    mutating func keyed(_ key: Value, _ path: DigestPath, adding: Bool) -> DigestPath {
        scratch.removeAll()
        scratch.value(key)
        weigh(scratch.bytes.count, adding: adding)
        return path.step(0x4B, scratch.bytes)
    }

    private mutating func leaf(_ value: Value, _ path: DigestPath, adding: Bool) {
        scratch.removeAll()
        scratch.value(value)
        weigh(scratch.bytes.count, adding: adding)
        let hash = path.leaf(scratch.bytes)
        if adding { digest &+= hash } else { digest &-= hash }
    }

    mutating func weigh(_ count: Int, adding: Bool = true) {
        bytes += adding ? count : -count
    }
}
