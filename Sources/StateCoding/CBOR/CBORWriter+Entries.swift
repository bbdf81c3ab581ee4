/// An entry of a map that is being written: where it is, and where its key belongs.
struct EncodedEntry {
    var start: Int
    var end = 0
    var order: EncodedOrder
}

/// The entries of a map, sorted after they were written: a type hands out its fields in its own order.
extension CBORWriter {
    /// Writes a key, in its canonical form.
    ///
    /// - Throws: `unencodable`.
    @inline(__always)
    mutating func key(_ name: String) throws(CodingFailure) -> EncodedEntry {
        let start = count
        try canonicalText(name)
        return EncodedEntry(start: start, order: EncodedOrder(base + start, count: count - start))
    }

    /// The entry whose key was just written.
    @inline(__always)
    mutating func entry(from start: Int) -> EncodedEntry {
        _ = room(for: EncodedOrder.bytes)
        return EncodedEntry(start: start, order: EncodedOrder(base + start, count: count - start))
    }

    static let keyIsNaN = "NaN cannot be a key: it is not == itself, so nothing can be found under it"

    /// Brings an item that was just written into the form that it has as a key: its texts in form C, and one zero.
    mutating func makeCanonical(from start: Int) throws(CodingFailure) {
        if withBytes({ isCanonical(UnsafeBufferPointer(rebasing: $0[start...])) }) { return }
        var reader = CBORReader(checked: withBytes { Array($0[start...]) })
        let key = try reader.value().canonical
        truncate(to: start)
        value(key)
    }

    /// Sorts the entries, which lie one behind the other up to the end, by their encoded keys. Of two with one key the
    /// later stays.
    ///
    /// - Returns: how many there are.
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

/// Whether an item is surely in canonical form: the usual keys are.
private func isCanonical(_ item: UnsafeBufferPointer<UInt8>) -> Bool {
    var (major, _, next) = DecodingSource.head(at: 0, in: item)
    var start = 0
    while major == 6 {
        start = next
        (major, _, next) = DecodingSource.head(at: start, in: item)
    }
    switch major {
    case 0, 1, 2: return true
    case 3: return item[next...].allSatisfy { $0 < 0x80 }
    case 7: return !item[start...].elementsEqual([0xF9, 0x80, 0x00])
    default: return false
    }
}

private func sortByKeys(_ entries: UnsafeMutableBufferPointer<EncodedEntry>, of bytes: UnsafeBufferPointer<UInt8>) {
    guard entries.count <= 32 else {
        var entries = entries
        return entries.sort { precedes($0, $1, bytes) }
    }
    // The fields of a struct are few: inserting beats what a general sort needs to begin.
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
    func key(_ entry: EncodedEntry) -> Range<Int> { entry.start..<DecodingSource.end(of: entry.start, in: bytes) }
    return byteOrder(bytes, key(left), key(right))
}

/// Brings the bytes of the entries into their order, by way of the room behind them.
///
/// - Returns: how many entries and bytes gave way to later ones.
private func arrange(
    _ entries: UnsafeMutableBufferPointer<EncodedEntry>,
    from start: Int,
    in bytes: UnsafeMutableBufferPointer<UInt8>,
    by spare: UnsafeMutablePointer<UInt8>
) -> (entries: Int, bytes: Int) {
    guard let base = bytes.baseAddress else { return (0, 0) }
    // What stands in its place already stays there.
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

/// Whether the next entry has the same key.
@inline(__always)
private func givesWay(
    _ index: Int,
    _ entries: UnsafeMutableBufferPointer<EncodedEntry>,
    _ bytes: UnsafeBufferPointer<UInt8>
) -> Bool {
    guard index + 1 < entries.count, entries[index].order == entries[index + 1].order else { return false }
    return orderOfKeys(entries[index], entries[index + 1], bytes) == 0
}
