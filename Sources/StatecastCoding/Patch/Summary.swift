/// A digest and a size that two processes compare to learn whether they hold the same state. It follows changes in
/// O(change).
///
/// **Digest.** The sum, modulo 2^64, of one hash per leaf. A leaf is everything but a map or array with something in
/// it: scalars, tagged values (whole), the empty map and the empty array. A leaf's hash is taken of these bytes:
/// - for each step from the root: `4B` and the key in CBOR (a map), or `49` and the index in CBOR (an array),
/// - then `56` and the leaf in CBOR;
///
/// all in the deterministic encoding (RFC 8949, section 4.2.1) and canonical: text in Unicode NFC, -0.0 as 0.0, NaN as
/// `f97e00`. The hash is FNV-1a with 64 bits (offset basis `cbf29ce484222325`, prime `100000001b3`), followed by the
/// finaliser of MurmurHash3: `h ^= h >> 33; h *= ff51afd7ed558ccd; h ^= h >> 33; h *= c4ceb9fe1a85ec53; h ^= h >> 33`.
///
/// **Size.** The length of the whole canonical encoding.
///
/// The digest finds mistakes; it is not collision-resistant.
public struct Summary: Hashable, Sendable {
    /// The sum of the leaves' hashes.
    public private(set) var digest: UInt64
    /// The size of the canonical CBOR encoding.
    public private(set) var bytes: Int

    /// A summary that another process sent.
    public init(digest: UInt64, bytes: Int) {
        self.digest = digest
        self.bytes = bytes
    }

    /// The summary of a whole state. O(n); `advance(by:)` and `Patch.apply(to:summary:)` then keep it up to date.
    public init(of value: Value) {
        var change = SummaryChange()
        change.add(value, at: .root)
        self.init(digest: change.digest, bytes: change.bytes)
    }

    /// The summary of an encoded state. It needs no tree, which would take several times the memory.
    ///
    /// - Throws: as `Value(decoding:)`.
    public init(ofEncoded bytes: [UInt8], limits: CodingLimits = .standard) throws(CodingFailure) {
        let isDeterministic = DeterministicCheck.passes(bytes, limits)
        let items = isDeterministic ? bytes : try Value(decoding: bytes, limits: limits).encoded
        var change = SummaryChange()
        items.withUnsafeBufferPointer { _ = change.count(CheckedItems(bytes: $0), at: 0, .root, adding: true) }
        self.init(digest: change.digest, bytes: change.bytes)
    }

    mutating func advance(by change: SummaryChange) {
        digest &+= change.digest
        bytes += change.bytes
    }
}

/// The difference of two summaries: removed parts and added parts. Both are sums, so their order is free.
struct SummaryChange: Hashable, Sendable {
    private(set) var digest: UInt64 = 0
    private(set) var bytes = 0

    mutating func add(_ value: Value, at path: DigestPath) { count(value, path, adding: true) }
    mutating func remove(_ value: Value, at path: DigestPath) { count(value, path, adding: false) }

    /// Removes a value, and adds another one in its place. Parts that both share are not read.
    mutating func replace(_ old: Value, with new: Value, at path: DigestPath) {
        switch (old, new) {
        case (.map(let old), .map(let new)):
            resize(.map, from: old.count, to: new.count, at: path)
            ValueMap.Entries.differences(from: old.entries, to: new.entries, by: { _, _ in false }) {
                replaceEntry($0, $1, $2, path)
            }
        case (.array(let old), .array(let new)):
            resize(.array, from: old.count, to: new.count, at: path)
            let common = min(old.count, new.count)
            for index in 0..<common where old[index] != new[index] {
                replace(old[index], with: new[index], at: path.index(index))
            }
            for index in common..<old.count { remove(old[index], at: path.index(index)) }
            for index in common..<new.count { add(new[index], at: path.index(index)) }
        default:
            remove(old, at: path)
            add(new, at: path)
        }
    }

    private mutating func replaceEntry(
        _ key: Value,
        _ old: UnsafePointer<Value>?,
        _ new: UnsafePointer<Value>?,
        _ path: DigestPath
    ) {
        switch (old, new) {
        case (let old?, let new?): replace(old.pointee, with: new.pointee, at: key.withEncoding { path.key($0) })
        case (let old?, nil): remove(old.pointee, at: key.withEncoding { enter($0, path, adding: false) })
        case (nil, let new?): add(new.pointee, at: key.withEncoding { enter($0, path, adding: true) })
        case (nil, nil): break
        }
    }

    /// A container's own part after its count changed: a head, or a leaf if it is empty.
    mutating func resize(_ container: CBORKind, from old: Int, to new: Int, at path: DigestPath) {
        guard old != new else { return }
        for (count, adding) in [(old, false), (new, true)] {
            if count > 0 {
                weigh(CBORWriter.headBytes(count), adding: adding)
            } else {
                self.count(container == .map ? .map([:]) : .array([]), path, adding: adding)
            }
        }
    }

    /// Counts the canonical key of an entry.
    ///
    /// - Returns: The path of the entry.
    mutating func enter(_ key: UnsafeBufferPointer<UInt8>, _ path: DigestPath, adding: Bool) -> DigestPath {
        weigh(key.count, adding: adding)
        return path.key(key)
    }

    private mutating func count(_ value: Value, _ path: DigestPath, adding: Bool) {
        value.withEncoding { _ = count(CheckedItems(bytes: $0), at: 0, path, adding: adding) }
    }

    /// Adds or removes the item at an offset.
    ///
    /// - Returns: Where it ends.
    @discardableResult
    mutating func count(_ items: CheckedItems, at start: Int, _ path: DigestPath, adding: Bool) -> Int {
        let head = items.head(at: start)
        var offset = head.next
        switch head.major {
        case 4 where head.argument > 0:
            weigh(offset - start, adding: adding)
            for index in 0..<Int(head.argument) { offset = count(items, at: offset, path.index(index), adding: adding) }
        case 5 where head.argument > 0:
            weigh(offset - start, adding: adding)
            for _ in 0..<head.argument {
                // The keys of checked items are canonical.
                let value = items.end(of: offset)
                let inner = enter(items[offset..<value], path, adding: adding)
                offset = count(items, at: value, inner, adding: adding)
            }
        default:
            offset = items.end(of: start)
            if items.isCanonicalLeaf(start..<offset) {
                leaf(items[start..<offset], path, adding: adding)
            } else {
                items.value(start..<offset).canonical.withEncoding { leaf($0, path, adding: adding) }
            }
        }
        return offset
    }

    private mutating func leaf(_ encoded: UnsafeBufferPointer<UInt8>, _ path: DigestPath, adding: Bool) {
        weigh(encoded.count, adding: adding)
        let hash = path.leaf(encoded)
        if adding { digest &+= hash } else { digest &-= hash }
    }

    private mutating func weigh(_ count: Int, adding: Bool) {
        bytes += adding ? count : -count
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
