/// The difference of two summaries: removed parts and added parts. Both are sums, so their order is free.
struct SummaryChange: Hashable, Sendable {
    enum Container { case array, map }

    private(set) var digest: UInt64 = 0
    private(set) var bytes = 0

    mutating func add(_ value: Value, at path: DigestPath) { count(value, path, adding: true) }
    mutating func remove(_ value: Value, at path: DigestPath) { count(value, path, adding: false) }

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

    private mutating func leaf(_ encoded: UnsafeBufferPointer<UInt8>, _ path: DigestPath, adding: Bool) {
        weigh(encoded.count, adding: adding)
        let hash = path.leaf(encoded)
        if adding { digest &+= hash } else { digest &-= hash }
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
        key.withEncoding { enter($0, path, adding: adding) }
    }

    /// Counts the canonical key of an entry.
    ///
    /// - Returns: The path of the entry.
    mutating func enter(_ key: UnsafeBufferPointer<UInt8>, _ path: DigestPath, adding: Bool) -> DigestPath {
        weigh(key.count, adding: adding)
        return path.key(key)
    }

    private mutating func leaf(_ value: Value, _ path: DigestPath, adding: Bool) {
        value.withEncoding { leaf($0, path, adding: adding) }
    }

    private mutating func weigh(_ count: Int, adding: Bool) {
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

    // MARK: Encoded values

    /// Adds or removes the item at an offset.
    ///
    /// - Returns: where it ends.
    @discardableResult
    mutating func count(_ items: CheckedItems, at start: Int, path: DigestPath, adding: Bool) -> Int {
        let head = items.head(at: start)
        var offset = head.next
        switch head.major {
        case 4 where head.argument > 0:
            weigh(offset - start, adding: adding)
            for index in 0..<Int(head.argument) {
                offset = count(items, at: offset, path: path.index(index), adding: adding)
            }
        case 5 where head.argument > 0:
            weigh(offset - start, adding: adding)
            for _ in 0..<head.argument {
                // The keys of checked items are canonical.
                let value = items.end(of: offset)
                let inner = enter(items[offset..<value], path, adding: adding)
                offset = count(items, at: value, path: inner, adding: adding)
            }
        default:
            offset = items.end(of: start)
            if items.isCanonicalLeaf(start..<offset) {
                leaf(items[start..<offset], path, adding: adding)
            } else if let number = CBORHead.float(items.bytes[start], bits: head.argument) {
                leaf(.float(number == 0 ? 0 : number), path, adding: adding)
            } else {
                count(items.value(start..<offset), path, adding: adding)
            }
        }
        return offset
    }
}

/// The path from the root to a node, hashed: see `Summary` for the bytes.
struct DigestPath: Equatable {
    private var hash = FNV1a()

    static let root = DigestPath()

    /// The entry of a map under a canonical key.
    func key(_ encoded: UnsafeBufferPointer<UInt8>) -> DigestPath { step(0x4B, encoded) }

    /// The element of an array.
    func index(_ index: Int) -> DigestPath { CBORWriter.withEncoding(of: UInt64(index)) { step(0x49, $0) } }

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
