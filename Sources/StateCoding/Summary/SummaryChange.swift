/// The difference of two summaries: removed parts and added parts. Both are sums, so their order is free.
struct SummaryChange: Hashable, Sendable {
    enum Container { case array, map }

    private(set) var digest: UInt64 = 0
    private(set) var bytes = 0

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

    /// Adds a leaf in CBOR that is canonical already.
    private mutating func addLeaf(_ encoded: UnsafeBufferPointer<UInt8>, at path: DigestPath) {
        weigh(encoded.count)
        digest &+= path.leaf(encoded)
    }

    private mutating func count(_ value: Value, _ path: DigestPath, adding: Bool) {
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

    private mutating func own(_ container: Container, _ count: Int, _ path: DigestPath, adding: Bool) {
        if count == 0 {
            leaf(container == .array ? .array([]) : .map([:]), path, adding: adding)
        } else {
            weigh(CBORWriter.headBytes(count), adding: adding)
        }
    }

    private mutating func keyed(_ key: Value, _ path: DigestPath, adding: Bool) -> DigestPath {
        let (count, keyed) = key.withEncoding { ($0.count, path.key($0)) }
        weigh(count, adding: adding)
        return keyed
    }

    private mutating func leaf(_ value: Value, _ path: DigestPath, adding: Bool) {
        let (count, hash) = value.withEncoding { ($0.count, path.leaf($0)) }
        weigh(count, adding: adding)
        if adding { digest &+= hash } else { digest &-= hash }
    }

    private mutating func weigh(_ count: Int, adding: Bool = true) {
        bytes += adding ? count : -count
    }

    // MARK: Touched parts

    /// Adds the touched parts of a value, and the containers on the path to them, whose counts may change.
    mutating func add(_ touched: TouchedParts, of value: Value, at path: DigestPath) {
        count(touched, of: value, path, adding: true)
    }

    mutating func remove(_ touched: TouchedParts, of value: Value, at path: DigestPath) {
        count(touched, of: value, path, adding: false)
    }

    private mutating func count(_ touched: TouchedParts, of value: Value, _ path: DigestPath, adding: Bool) {
        if touched.isWhole { return count(value, path, adding: adding) }
        switch value {
        case .map(let map):
            own(.map, map.count, path, adding: adding)
            for (key, inner) in touched.inner {
                guard let element = map.entries[key] else { continue }
                count(inner, of: element, keyed(key, path, adding: adding), adding: adding)
            }
        case .array(let elements):
            own(.array, elements.count, path, adding: adding)
            let moved = min(touched.movedFrom, elements.count)
            for (key, inner) in touched.inner {
                guard let index = key.elementIndex, index < moved else { continue }
                count(inner, of: elements[index], path.index(index), adding: adding)
            }
            adding ? add(elements[moved...], in: path) : remove(elements[moved...], in: path)
        default: break
        }
    }

    // MARK: Encoded states

    /// Adds the item at an offset.
    ///
    /// - Returns: where it ends.
    mutating func add(_ source: DecodingSource, at offset: Int, path: DigestPath) -> Int {
        let head = source.head(at: offset)
        let (major, argument, next) = (head.major, head.argument, head.next)
        switch major {
        case 4 where argument > 0:
            weigh(next - offset)
            var offset = next
            for index in 0..<Int(argument) { offset = add(source, at: offset, path: path.index(index)) }
            return offset
        case 5 where argument > 0:
            weigh(next - offset)
            var offset = next
            for _ in 0..<argument {
                // The keys of a checked source are canonical.
                let value = source.end(of: offset)
                weigh(value - offset)
                offset = add(source, at: value, path: path.key(source[offset..<value]))
            }
            return offset
        case 3, 6, 7:
            // Texts, floats and what a tag holds may be written in more than one way.
            var cursor = ItemCursor(source: source, offset: offset)
            add(cursor.value(), at: path)
            return cursor.offset
        default:
            let end = source.end(of: offset)
            addLeaf(source[offset..<end], at: path)
            return end
        }
    }
}

/// The path from the root to a node, hashed: see `Summary` for the bytes.
struct DigestPath: Equatable {
    private var hash = FNV1a()

    static let root = DigestPath()

    /// The entry of a map under a canonical key.
    func key(_ key: Value) -> DigestPath { key.withEncoding(self.key) }
    func key(_ encoded: UnsafeBufferPointer<UInt8>) -> DigestPath { step(0x4B, encoded) }

    /// The element of an array.
    func index(_ index: Int) -> DigestPath { Value(index).withEncoding { step(0x49, $0) } }

    /// The hash of an encoded leaf at the end of the path.
    func leaf(_ encoded: UnsafeBufferPointer<UInt8>) -> UInt64 { step(0x56, encoded).hash.mixed }

    private func step(_ mark: UInt8, _ bytes: UnsafeBufferPointer<UInt8>) -> DigestPath {
        var next = self
        next.hash.combine(mark)
        next.hash.combine(bytes)
        return next
    }
}

/// FNV-1a, 64 bits: a hash that is simple to implement anywhere, and that continues from any prefix.
private struct FNV1a: Equatable {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func combine(_ byte: UInt8) {
        state = (state ^ UInt64(byte)) &* 0x100_0000_01B3
    }

    mutating func combine(_ bytes: UnsafeBufferPointer<UInt8>) {
        for byte in bytes { combine(byte) }
    }

    /// The state, its bits mixed (the finaliser of MurmurHash3), so that sums of similar inputs do not cancel.
    var mixed: UInt64 {
        var hash = state
        hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ (hash >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ (hash >> 33)
    }
}
