/// Writes CBOR deterministically (RFC 8949, section 4.2.1): shortest heads, shortest floats, one NaN.
///
/// Arrays and maps are announced with their count and followed by their items; the writer does not check that they
/// come, and the order of map keys is the caller's (`value(_:)` keeps it right by itself).
///
/// A copy shares the memory until one of both writes, which takes memory of its own: so it may be sent anywhere.
package struct CBORWriter: @unchecked Sendable {
    /// The bytes, and room for more; an array would look after each byte.
    var memory: ManagedBuffer<Void, UInt8>
    /// For how many bytes the memory has room.
    var capacity: Int
    /// How many bytes have been written.
    var count = 0

    /// A writer with room for so many bytes.
    package init(reserving capacity: Int = 0) {
        self.capacity = capacity
        memory = capacity == 0 ? Self.noMemory : Self.memory(for: capacity)
    }

    /// What has been written; a copy of it.
    package var bytes: [UInt8] { withBytes { Array($0) } }

    /// Starts anew, keeping the memory.
    package mutating func removeAll() {
        count = 0
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
        _ = value.withUnsafeBufferPointer { string(0x40, $0) }
    }

    /// A text, in the spelling that it has.
    package mutating func text(_ value: String) {
        // Nearly all strings are UTF-8 as they are; to make sure of it by `withUTF8` would take a copy of the reference.
        if value.utf8.withContiguousStorageIfAvailable({ _ = string(0x60, $0) }) == nil { bridgedText(value) }
    }

    @inline(never)
    private mutating func bridgedText(_ value: String) {
        var value = value
        _ = value.withUTF8 { string(0x60, $0) }
    }

    /// A text in its canonical form.
    ///
    /// - Throws: `unencodable`.
    @inline(__always)
    mutating func canonicalText(_ value: String) throws(CodingFailure) {
        let start = count
        let isASCII = value.utf8.withContiguousStorageIfAvailable { utf8 in
            // What was written is followed by zeros, so its last bytes can be looked at as a whole word too.
            let written = UnsafeRawPointer(string(0x60, utf8))
            var bits: UInt64 = 0
            var index = 0
            while index < utf8.count {
                bits |= written.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                index &+= 8
            }
            return bits & 0x8080_8080_8080_8080 == 0
        }
        if isASCII != true { try rewriteCanonically(value, at: start) }
    }

    @inline(never)
    private mutating func rewriteCanonically(_ value: String, at start: Int) throws(CodingFailure) {
        truncate(to: start)
        if value.hasTooManyMarks { throw CodingFailure(.unencodable, CodingFailure.tooManyMarks) }
        text(value.canonical)
    }

    /// `true` or `false`.
    package mutating func bool(_ value: Bool) {
        byte(value ? 0xF5 : 0xF4)
    }

    /// Null.
    package mutating func null() {
        byte(0xF6)
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

    /// Bytes as they are: items that are CBOR already, or what stands in front of them.
    package mutating func encoded(_ alreadyCBOR: some Collection<UInt8>) {
        if alreadyCBOR.withContiguousStorageIfAvailable({ append($0) }) == nil {
            Array(alreadyCBOR).withUnsafeBufferPointer { append($0) }
        }
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
}
