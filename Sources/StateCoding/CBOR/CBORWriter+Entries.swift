#if canImport(Darwin)
    private import Darwin
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#endif

/// The entries of a map, sorted after they were written: a type hands out its fields in its own order.
extension CBORWriter {
    /// Sorts the entries that begin at these offsets, one behind the other up to the end, by their encoded keys. Of two
    /// with one key the later stays.
    ///
    /// - Returns: how many there are.
    mutating func sortEntries(_ starts: ArraySlice<Int>) -> Int {
        guard starts.count > 1 else { return starts.count }
        let removed = withBytes { bytes in
            if areSorted(starts, in: UnsafeBufferPointer(bytes)) { return (entries: 0, bytes: 0) }
            return sort(starts, in: bytes)
        }
        truncate(to: count - removed.bytes)
        return starts.count - removed.entries
    }
}

/// How two ranges of bytes compare, byte by byte: below, at or above zero.
///
/// Encoded keys are not compared beyond the shorter one: they differ before it ends, as their lengths come first.
func byteOrder(_ bytes: UnsafeBufferPointer<UInt8>, _ left: Range<Int>, _ right: Range<Int>) -> Int32 {
    guard let base = bytes.baseAddress else { return 0 }
    return memcmp(base + left.lowerBound, base + right.lowerBound, min(left.count, right.count))
}

private struct Entry {
    let start: Int
    let end: Int
    let key: Range<Int>
}

private func areSorted(_ starts: ArraySlice<Int>, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var last = starts.startIndex
    for next in starts.indices.dropFirst() {
        let (left, right) = (starts[last], starts[next])
        guard byteOrder(bytes, key(bytes, at: left), key(bytes, at: right)) < 0 else { return false }
        last = next
    }
    return true
}

/// - Returns: how many entries and bytes gave way to later ones.
private func sort(
    _ starts: ArraySlice<Int>,
    in bytes: UnsafeMutableBufferPointer<UInt8>
) -> (entries: Int, bytes: Int) {
    let first = starts[starts.startIndex]
    let keys = UnsafeBufferPointer(bytes)
    return withUnsafeTemporaryAllocation(of: Entry.self, capacity: starts.count) { entries in
        var entries = entries
        var filled = 0
        for index in starts.indices {
            let end = index + 1 < starts.endIndex ? starts[index + 1] : bytes.count
            let entry = Entry(start: starts[index], end: end, key: key(keys, at: starts[index]))
            entries.initializeElement(at: filled, to: entry)
            filled += 1
        }
        func precedes(_ left: Entry, _ right: Entry) -> Bool {
            let order = byteOrder(keys, left.key, right.key)
            return order == 0 ? left.start < right.start : order < 0
        }
        if filled > 32 {
            entries.sort(by: precedes)
        } else {
            // The fields of a struct are few: inserting beats what a general sort needs to begin.
            for index in 1..<filled {
                let entry = entries[index]
                var place = index
                while place > 0, precedes(entry, entries[place - 1]) {
                    entries[place] = entries[place - 1]
                    place -= 1
                }
                entries[place] = entry
            }
        }
        return copy(entries, from: first, in: bytes)
    }
}

/// Brings the bytes of the entries into their order.
private func copy(
    _ entries: UnsafeMutableBufferPointer<Entry>,
    from first: Int,
    in bytes: UnsafeMutableBufferPointer<UInt8>
) -> (entries: Int, bytes: Int) {
    let count = bytes.count - first
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { scratch in
        var (filled, dropped) = (0, 0)
        for index in entries.indices {
            let entry = entries[index]
            if index + 1 < entries.count {
                if byteOrder(UnsafeBufferPointer(bytes), entry.key, entries[index + 1].key) == 0 {
                    dropped += 1
                    continue
                }
            }
            let written = UnsafeMutableBufferPointer(rebasing: scratch[filled...])
            filled += written.initialize(fromContentsOf: bytes[entry.start..<entry.end])
        }
        _ = bytes[first...].update(fromContentsOf: scratch[..<filled])
        return (dropped, count - filled)
    }
}

/// A key: a text of definite length, as types have no other keys.
private func key(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Range<Int> {
    var length = Int(bytes[start] & 0x1F)
    guard length >= 24 else { return start..<(start + 1 + length) }
    let width = 1 << (length - 24)
    length = 0
    for offset in (start + 1)...(start + width) { length = length << 8 | Int(bytes[offset]) }
    return start..<(start + 1 + width + length)
}
