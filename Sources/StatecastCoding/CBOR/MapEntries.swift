/// An entry of a map that is being written: where it is, and where its key belongs.
struct EncodedEntry {
    var start: Int
    var end = 0
    var order: EncodedOrder
}

/// The entries of a map are sorted after they were written, as a type encodes its fields in its own order.
extension CBORWriter {
    /// Writes a key, in its canonical form.
    ///
    /// - Throws: `unencodable`.
    @inline(__always)
    mutating func key(_ name: String) throws(CodingFailure) -> EncodedEntry {
        let start = count
        try canonicalText(name)
        return entry(from: start)
    }

    /// The entry whose key was just written.
    @inline(__always)
    func entry(from start: Int) -> EncodedEntry {
        withBytes { EncodedEntry(start: start, order: EncodedOrder($0, at: start, count: $0.count - start)) }
    }

    static let keyIsNaN = "NaN cannot be a key: it is not == itself, so nothing can be found under it"

    /// Rewrites the item that was just written in the form of a key: texts in form C, and one zero.
    mutating func makeCanonical(from start: Int) {
        if withBytes({ CheckedItems(bytes: $0).isCanonicalLeaf(start..<count) }) { return }
        let key = withBytes { CheckedItems(bytes: $0).value(start..<count).canonical }
        truncate(to: start)
        value(key)
    }

    /// Sorts the entries, which are adjacent up to the end, by their encoded keys. The last of duplicate keys wins.
    ///
    /// - Returns: The number of remaining entries.
    mutating func sort(_ entries: UnsafeMutableBufferPointer<EncodedEntry>) -> Int {
        guard entries.count > 1 else { return entries.count }
        var (isSorted, next) = (true, count)
        for index in entries.indices.reversed() {
            entries[index].end = next
            next = entries[index].start
            if index > 0 { isSorted = isSorted && entries[index - 1].order < entries[index].order }
        }
        if isSorted { return entries.count }
        let removed = withBytes(spare: count - next) { bytes, spare in
            sortByKeys(entries, of: UnsafeBufferPointer(bytes))
            return arrange(entries, from: next, in: bytes, by: spare)
        }
        truncate(to: count - removed.bytes)
        return entries.count - removed.entries
    }
}

private func sortByKeys(_ entries: UnsafeMutableBufferPointer<EncodedEntry>, of bytes: UnsafeBufferPointer<UInt8>) {
    guard entries.count <= 32 else {
        var entries = entries
        return entries.sort { precedes($0, $1, bytes) }
    }
    // Insertion sort is faster than a general sort for the few fields of a struct.
    for index in 1..<entries.count {
        let entry = entries[index]
        var place = index
        while place > 0, precedes(entry, entries[place - 1], bytes) {
            entries[place] = entries[place - 1]
            place -= 1
        }
        entries[place] = entry
    }
}

@inline(__always)
private func precedes(_ left: EncodedEntry, _ right: EncodedEntry, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    if left.order != right.order { return left.order < right.order }
    let order = orderOfKeys(left, right, bytes)
    return order == 0 ? left.start < right.start : order < 0
}

/// How the keys of two entries compare.
@inline(never)
private func orderOfKeys(_ left: EncodedEntry, _ right: EncodedEntry, _ bytes: UnsafeBufferPointer<UInt8>) -> Int32 {
    func key(_ entry: EncodedEntry) -> Range<Int> { entry.start..<CheckedItems(bytes: bytes).end(of: entry.start) }
    return byteOrder(bytes, key(left), key(right))
}

/// Brings the bytes of the entries into their order, using the room after them.
///
/// - Returns: The numbers of entries and bytes that later entries with the same key replaced.
private func arrange(
    _ entries: UnsafeMutableBufferPointer<EncodedEntry>,
    from start: Int,
    in bytes: UnsafeMutableBufferPointer<UInt8>,
    by spare: UnsafeMutablePointer<UInt8>
) -> (entries: Int, bytes: Int) {
    guard let base = bytes.baseAddress else { return (0, 0) }
    // The first entries may be in their places already.
    var (first, end) = (0, start)
    let keys = UnsafeBufferPointer(bytes)
    while first < entries.count, entries[first].start == end, !givesWay(first, entries, keys) {
        end = entries[first].end
        first += 1
    }
    var (filled, dropped) = (0, 0)
    for index in first..<entries.count {
        if givesWay(index, entries, keys) {
            dropped += 1
            continue
        }
        let entry = entries[index]
        (spare + filled).update(from: base + entry.start, count: entry.end - entry.start)
        filled += entry.end - entry.start
    }
    (base + end).update(from: spare, count: filled)
    return (dropped, bytes.count - end - filled)
}

/// Whether the next entry replaces this one.
@inline(__always)
private func givesWay(
    _ index: Int,
    _ entries: UnsafeMutableBufferPointer<EncodedEntry>,
    _ bytes: UnsafeBufferPointer<UInt8>
) -> Bool {
    guard index + 1 < entries.count, entries[index].order == entries[index + 1].order else { return false }
    return orderOfKeys(entries[index], entries[index + 1], bytes) == 0
}

/// The bytewise order of two ranges that hold encoded keys: below, at or above zero.
///
/// The comparison ends with the shorter key. The two differ before its end, as their lengths come first.
func byteOrder(_ bytes: UnsafeBufferPointer<UInt8>, _ left: Range<Int>, _ right: Range<Int>) -> Int32 {
    guard let base = bytes.baseAddress else { return 0 }
    return byteOrder(base + left.lowerBound, base + right.lowerBound, min(left.count, right.count))
}

/// The first eight bytes of an encoded key as one number, padded with zeros. It decides nearly every comparison of two
/// keys: the deterministic order of a map is bytewise (RFC 8949, section 4.2.1).
///
/// No key is a prefix of another one, so different keys of up to eight bytes have different numbers.
struct EncodedOrder: Comparable {
    static let bytes = 8
    private let number: UInt64

    @inline(__always)
    init(number: UInt64 = 0) { self.number = number }

    /// The order of the key of `count` bytes at an offset.
    @inline(__always)
    init(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int, count: Int) {
        self.init(number: UnsafeBufferPointer(rebasing: bytes[offset..<(offset &+ count)]).prefixNumber)
    }

    /// The order of the key that a text has.
    @inline(__always)
    init(text: UnsafeBufferPointer<UInt8>) {
        if text.count < 24 {
            self.init(number: (0x60 | UInt64(text.count)) << 56 | text.prefixNumber >> 8)
        } else {
            self.init(longText: text)
        }
    }

    @inline(never)
    private init(longText text: UnsafeBufferPointer<UInt8>) {
        let count = UInt64(text.count)
        let first = text.prefixNumber
        switch count {
        case ...0xFF: self.init(number: (0x7800 | count) << 48 | first >> 16)
        case ...0xFFFF: self.init(number: (0x79_0000 | count) << 40 | first >> 24)
        case ...0xFFFF_FFFF: self.init(number: (0x7A_0000_0000 | count) << 24 | first >> 40)
        // The head alone has nine bytes.
        default: self.init(number: 0x7B << 56 | count >> 8)
        }
    }

    @inline(__always)
    static func < (left: EncodedOrder, right: EncodedOrder) -> Bool { left.number < right.number }
}
