/// Writes CBOR deterministically (RFC 8949, section 4.2.1): shortest heads, shortest floats, one NaN.
///
/// Arrays and maps are announced with their count and followed by their items; the writer does not check that they
/// come, and the order of map keys is the caller's (`value(_:)` keeps it right by itself).
package struct CBORWriter: Sendable {
    /// What has been written.
    package private(set) var bytes: [UInt8] = []

    /// A writer with room for so many bytes.
    package init(reserving capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// Starts anew, keeping the memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// An integer of 0 or above.
    package mutating func unsigned(_ value: UInt64) {
        head(0x00, value)
    }

    /// The integer -1 - n.
    package mutating func negative(_ n: UInt64) {
        head(0x20, n)
    }

    /// An integer of either sign.
    package mutating func integer(_ value: Int64) {
        if value >= 0 { unsigned(UInt64(value)) } else { negative(UInt64(bitPattern: ~value)) }
    }

    /// A byte string.
    package mutating func bytes(_ value: [UInt8]) {
        head(0x40, UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// A text, in the spelling that it has.
    package mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { utf8 in
            head(0x60, UInt64(utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }

    /// A text in its canonical form.
    mutating func canonicalText(_ value: String) {
        var value = value
        let isWritten = value.withUTF8 { utf8 in
            // Every scalar below U+0300, whose UTF-8 starts with 0xCC, is in form C already: nearly all texts end here.
            for byte in utf8 where byte >= 0xCC { return false }
            head(0x60, UInt64(utf8.count))
            bytes.append(contentsOf: utf8)
            return true
        }
        if !isWritten { text(value.canonical) }
    }

    /// `true` or `false`.
    package mutating func bool(_ value: Bool) {
        bytes.append(value ? 0xF5 : 0xF4)
    }

    /// Null.
    package mutating func null() {
        bytes.append(0xF6)
    }

    /// A number in the shortest of half, single and double precision that keeps it; every NaN as `f97e00`.
    package mutating func float(_ value: Double) {
        let single = Float(value)
        if value.isNaN {
            bigEndian(0xF9, UInt64(0x7E00), count: 2)
        } else if Double(single) != value {
            bigEndian(0xFB, value.bitPattern, count: 8)
        } else if let half = HalfPrecision.bits(exactly: single) {
            bigEndian(0xF9, UInt64(half), count: 2)
        } else {
            bigEndian(0xFA, UInt64(single.bitPattern), count: 4)
        }
    }

    /// The head of an array; `count` items must follow.
    package mutating func array(count: Int) {
        head(0x80, UInt64(count))
    }

    /// The head of a map; `count` pairs of key and value must follow, sorted by encoded key.
    package mutating func map(count: Int) {
        head(0xA0, UInt64(count))
    }

    /// A tag; the item that it describes must follow.
    package mutating func tag(_ number: UInt64) {
        head(0xC0, number)
    }

    /// Items that are CBOR already.
    package mutating func encoded(_ alreadyCBOR: some Collection<UInt8>) {
        bytes.append(contentsOf: alreadyCBOR)
    }

    /// A whole value, with the keys of its maps in order.
    package mutating func value(_ value: Value) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .unsigned(let value): unsigned(value)
        case .negative(let value): negative(value)
        case .float(let value): float(value)
        case .text(let value): text(value)
        case .bytes(let value): bytes(value)
        case .array(let elements):
            array(count: elements.count)
            for element in elements { self.value(element) }
        case .map(let entries):
            map(count: entries.count)
            for (key, element) in entries {
                self.value(key)
                self.value(element)
            }
        case .tagged(let number, let content):
            tag(number)
            self.value(content)
        }
    }

    @inline(__always)
    private mutating func head(_ major: UInt8, _ argument: UInt64) {
        if argument < 24 {
            bytes.append(major | UInt8(truncatingIfNeeded: argument))
        } else {
            longHead(major, argument)
        }
    }

    private mutating func longHead(_ major: UInt8, _ argument: UInt64) {
        switch argument {
        case ...0xFF:
            bytes.append(major | 24)
            bytes.append(UInt8(truncatingIfNeeded: argument))
        case 0x100...0xFFFF: bigEndian(major | 25, argument, count: 2)
        case 0x1_0000...0xFFFF_FFFF: bigEndian(major | 26, argument, count: 4)
        default: bigEndian(major | 27, argument, count: 8)
        }
    }

    private mutating func bigEndian(_ first: UInt8, _ argument: UInt64, count: Int) {
        bytes.append(first)
        for shift in stride(from: (count - 1) * 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: argument >> UInt64(shift)))
        }
    }

    /// How many bytes have been written.
    var count: Int { bytes.count }

    /// Takes back what was written behind a place.
    mutating func truncate(to count: Int) {
        bytes.removeLast(bytes.count - count)
    }

    /// Leaves room for the head of an array or map whose count is not known yet.
    mutating func openContainer() {
        bytes.append(0)
    }

    /// Writes the head of an array or map where room was left for it. All that follows moves if it needs more.
    ///
    /// - Returns: by how much.
    @discardableResult
    mutating func closeContainer(_ kind: CBORKind, at offset: Int, count: Int) -> Int {
        let major: UInt8 = kind == .map ? 0xA0 : 0x80
        if count < 24 {
            bytes[offset] = major | UInt8(count)
            return 0
        }
        var head = CBORWriter()
        head.head(major, UInt64(count))
        bytes.replaceSubrange(offset...offset, with: head.bytes)
        return head.count - 1
    }

    /// Puts items that are CBOR already in front of what was written behind a place.
    mutating func insert(_ alreadyCBOR: [UInt8], at offset: Int) {
        bytes.insert(contentsOf: alreadyCBOR, at: offset)
    }

    /// Works on the bytes in place.
    mutating func withBytes<Result>(_ body: (UnsafeMutableBufferPointer<UInt8>) -> Result) -> Result {
        bytes.withUnsafeMutableBufferPointer { body($0) }
    }

    /// How many bytes the head of an item with this argument takes.
    static func headBytes(_ argument: Int) -> Int {
        switch argument {
        case ..<24: 1
        case ...0xFF: 2
        case ...0xFFFF: 3
        case ...0xFFFF_FFFF: 5
        default: 9
        }
    }
}
