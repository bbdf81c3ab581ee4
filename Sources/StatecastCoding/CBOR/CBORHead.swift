/// The head of a CBOR item (RFC 8949, section 3).
struct CBORHead {
    /// The major type, 0 to 7.
    let major: UInt8
    /// An integer, a length, a count, the number of a tag, or the bits of a float.
    let argument: UInt64
    /// The offset at which the content begins.
    let next: Int

    /// The value of the low five bits that marks an indefinite length.
    static let indefinite: UInt8 = 31
    /// The longest head.
    static let maxBytes = 9
}

extension CBORHead {
    /// Reads the head at an offset.
    ///
    /// - Returns: `nil` if the head is cut off, or if its length code is reserved or indefinite.
    @inline(__always)
    init?(at offset: Int, in bytes: UnsafeBufferPointer<UInt8>) {
        guard offset >= 0, offset < bytes.count else { return nil }
        let first = bytes[offset]
        guard first & 0x1F >= 24 else {
            self.init(major: first >> 5, argument: UInt64(first & 0x1F), next: offset &+ 1)
            return
        }
        self.init(longAt: offset, in: bytes)
    }

    @inline(never)
    private init?(longAt offset: Int, in bytes: UnsafeBufferPointer<UInt8>) {
        let first = bytes[offset]
        guard let width = Self.argumentBytes(of: first), bytes.count - offset > width, let base = bytes.baseAddress
        else { return nil }
        let content = UnsafeRawPointer(base + offset + 1)
        let argument: UInt64
        if bytes.count - offset > 8 {
            // Eight bytes at once, of which the first ones count.
            let word = UInt64(bigEndian: content.loadUnaligned(as: UInt64.self))
            argument = word &>> UInt64(truncatingIfNeeded: 64 &- 8 &* width)
        } else {
            argument = UnsafeRawBufferPointer(start: content, count: width).reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.init(major: first >> 5, argument: argument, next: offset + 1 + width)
    }

    /// The number of bytes that follow a first byte with a length code of 24 or more; `nil` for reserved codes.
    static func argumentBytes(of first: UInt8) -> Int? {
        (24...27).contains(first & 0x1F) ? 1 &<< Int(first & 0x1F &- 24) : nil
    }

    /// The size of the shortest head with an argument.
    static func size(of argument: UInt64) -> Int {
        switch argument {
        case ..<24: 1
        case ...0xFF: 2
        case ...0xFFFF: 3
        case ...0xFFFF_FFFF: 5
        default: 9
        }
    }

    /// The number that a float's head holds; `nil` for other heads of major type 7.
    static func float(_ first: UInt8, bits: UInt64) -> Double? {
        switch first {
        case 0xF9: HalfPrecision.value(bits: UInt16(truncatingIfNeeded: bits))
        case 0xFA: Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case 0xFB: Double(bitPattern: bits)
        default: nil
        }
    }

    /// Whether a head of major type 7 is in canonical form: a float in the shortest precision, with one zero and one
    /// NaN.
    static func isCanonical(_ first: UInt8, bits: UInt64) -> Bool {
        guard let value = float(first, bits: bits) else { return true }
        let shortest = ShortestFloat(value == 0 ? 0 : value)
        return shortest.first == first && shortest.bits == bits
    }
}

extension ArraySlice<UInt8> {
    /// The range of the content of the byte string at an offset; `nil` unless it is whole and of definite length.
    /// Offsets count from the start of the slice.
    package func contentOfByteString(at offset: Int) -> Range<Int>? {
        withUnsafeBufferPointer { bytes in
            guard let head = CBORHead(at: offset, in: bytes), head.major == 2,
                head.argument <= UInt64(bytes.count - head.next)
            else { return nil }
            return head.next..<(head.next + Int(head.argument))
        }
    }
}

extension [UInt8] {
    /// Appends a byte string, in the form that `contentOfByteString(at:)` reads.
    package mutating func appendByteString(_ content: UnsafeBufferPointer<UInt8>) {
        let width = CBORHead.size(of: UInt64(content.count)) - 1
        append(width == 0 ? 0x40 | UInt8(content.count) : 0x58 | UInt8(width.trailingZeroBitCount))
        for index in 0..<width {
            append(UInt8(truncatingIfNeeded: content.count >> (8 * (width - 1 - index))))
        }
        append(contentsOf: content)
    }
}

/// Bytes that are known to hold well-formed items of definite length.
struct CheckedItems {
    let bytes: UnsafeBufferPointer<UInt8>

    /// The head of the item at an offset.
    ///
    /// - Precondition: The item is within the bytes.
    @inline(__always)
    func head(at offset: Int) -> CBORHead {
        guard let head = CBORHead(at: offset, in: bytes) else {
            preconditionFailure("the checked bytes end before an item at \(offset)")
        }
        return head
    }

    /// The item in a range.
    func value(_ item: Range<Int>) -> Value {
        var reader = CBORReader(checked: Array(self[item]))
        guard let value = try? reader.value() else {
            preconditionFailure("the checked bytes hold no item at \(item.lowerBound)")
        }
        return value
    }

    /// Whether an item is known to be a leaf in canonical form; `false` for a text beyond ASCII says nothing.
    func isCanonicalLeaf(_ item: Range<Int>) -> Bool {
        var start = item.lowerBound
        while bytes[start] >> 5 == 6 { start = head(at: start).next }
        return switch bytes[start] >> 5 {
        case 3: self[head(at: start).next..<item.upperBound].isASCII
        case 4, 5: item.upperBound - start == 1
        case 7: CBORHead.isCanonical(bytes[start], bits: head(at: start).argument)
        default: true
        }
    }

    subscript(range: Range<Int>) -> UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: bytes[range]) }

    /// The offset after the item at an offset.
    @inline(__always)
    func end(of offset: Int) -> Int {
        // Nearly all items are short: the first byte says everything.
        let first = bytes[offset]
        switch first {
        case 0x00...0x17, 0x20...0x37, 0xF4...0xF6: return offset + 1
        case 0x60...0x77: return offset + 1 + Int(first & 0x1F)
        default: return longEnd(of: offset)
        }
    }

    @inline(never)
    private func longEnd(of offset: Int) -> Int {
        var (offset, pending) = (offset, 1)
        while pending > 0 {
            let head = head(at: offset)
            pending -= 1
            offset = head.next
            switch head.major {
            case 2, 3: offset += Int(head.argument)
            case 4: pending += Int(head.argument)
            case 5: pending += 2 * Int(head.argument)
            case 6: pending += 1
            default: break
            }
        }
        return offset
    }
}

/// The kind of a CBOR item, by its first byte.
package enum CBORKind: Hashable, Sendable {
    case unsigned, negative, bytes, text, array, map, tag, bool, null, float
    /// A simple value without a meaning here, or a byte that starts no item.
    case other

    init(initialByte: UInt8) {
        self =
            switch initialByte >> 5 {
            case 0: .unsigned
            case 1: .negative
            case 2: .bytes
            case 3: .text
            case 4: .array
            case 5: .map
            case 6: .tag
            default:
                switch initialByte {
                case 0xF4, 0xF5: .bool
                case 0xF6, 0xF7: .null
                case 0xF9, 0xFA, 0xFB: .float
                default: .other
                }
            }
    }

    /// The kind as error messages name it.
    var words: String {
        switch self {
        case .unsigned, .negative: "an integer"
        case .bytes: "a byte string"
        case .text: "a text"
        case .array: "an array"
        case .map: "a map"
        case .tag: "a tag"
        case .bool: "a bool"
        case .null: "null"
        case .float: "a float"
        case .other: "an unknown simple value"
        }
    }
}
