/// Finds out whether bytes are one whole item in the deterministic form: shortest heads, definite lengths, texts in UTF-8,
/// the keys of maps sorted, different and in Unicode's form C.
///
/// A no says nothing more: `CBORReader` then finds what is wrong, or reads what is merely written otherwise. (Floats that
/// could be shorter, and other spellings of NaN, pass: they are read all the same.)
struct DeterministicCheck {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let base: UnsafePointer<UInt8>
    /// Never beyond the end.
    private var position = 0
    private let depthMax: Int

    static func passes(_ bytes: [UInt8], _ limits: CodingLimits) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            guard var check = DeterministicCheck(bytes, depthMax: limits.depthMax) else { return false }
            return check.item(0) && check.position == bytes.count
        }
    }

    private init?(_ bytes: UnsafeBufferPointer<UInt8>, depthMax: Int) {
        guard let base = bytes.baseAddress else { return nil }
        self.bytes = bytes
        self.base = base
        self.depthMax = depthMax
    }

    // MARK: Items

    /// Nearly all items are short: the first byte says everything.
    @inline(__always)
    private mutating func item(_ depth: Int) -> Bool {
        guard position < bytes.count else { return false }
        let first = base[position]
        switch first {
        case 0x00...0x17, 0x20...0x37, 0xF4...0xF6:
            position &+= 1
            return true
        case 0x60...0x77: return shortText(first) || isText()
        default: return longItem(first, depth)
        }
    }

    @inline(never)
    private mutating func longItem(_ first: UInt8, _ depth: Int) -> Bool {
        if first >= 0xE0 { return float(first) }
        guard let argument = argument(first & 0x1F) else { return false }
        switch first >> 5 {
        case 0, 1: return true
        case 2: return take(argument)
        case 3: return text(argument) || isText()
        case 4: return depth < depthMax && items(argument, depth + 1)
        case 5: return depth < depthMax && entries(argument, depth + 1)
        default: return depth < depthMax && item(depth + 1)
        }
    }

    /// `undefined` counts as another way to write null.
    private mutating func float(_ first: UInt8) -> Bool {
        switch first {
        case 0xF9: take(3)
        case 0xFA: take(5)
        case 0xFB: take(9)
        default: false
        }
    }

    /// Reads past the head.
    private mutating func argument(_ information: UInt8) -> UInt64? {
        position += 1
        if information < 24 { return UInt64(information) }
        guard information < 28 else { return nil }
        let width = 1 << Int(information - 24)
        guard bytes.count - position >= width else { return nil }
        let argument = DecodingSource.number(base + position, width)
        position += width
        let least: UInt64 = width == 1 ? 24 : 1 << UInt64(width * 4)
        return argument >= least ? argument : nil
    }

    @inline(__always)
    private mutating func take(_ count: UInt64) -> Bool {
        guard count <= UInt64(truncatingIfNeeded: bytes.count &- position) else { return false }
        position &+= Int(truncatingIfNeeded: count)
        return true
    }

    private mutating func items(_ count: UInt64, _ depth: Int) -> Bool {
        guard count <= UInt64(bytes.count - position) else { return false }
        for _ in 0..<count { guard item(depth) else { return false } }
        return true
    }

    // MARK: Maps

    private mutating func entries(_ count: UInt64, _ depth: Int) -> Bool {
        guard count <= UInt64(bytes.count - position) / 2, count > 0 else { return count == 0 }
        var lastStart = position
        guard var last = key(depth), item(depth) else { return false }
        for _ in 1..<count {
            let start = position
            guard let order = key(depth), last < order || last == order && isBelow(lastStart, start) else {
                return false
            }
            (lastStart, last) = (start, order)
            guard item(depth) else { return false }
        }
        return true
    }

    /// Whether a key that begins like the next one, which ends here, comes before it.
    @inline(never)
    private func isBelow(_ key: Int, _ next: Int) -> Bool {
        byteOrder(bytes, key..<DecodingSource.end(of: key, in: bytes), next..<position) < 0
    }

    /// Reads past a key; `nil` if it may not be its own canonical form.
    @inline(__always)
    private mutating func key(_ depth: Int) -> EncodedOrder? {
        guard position < bytes.count else { return nil }
        let (start, first) = (position, base[position])
        let isCanonicalKey: Bool =
            switch first {
            case 0x60...0x77: shortText(first) || isCanonicalText()
            default: longKey(first, depth)
            }
        return isCanonicalKey ? EncodedOrder(bytes, at: start, count: position &- start) : nil
    }

    @inline(never)
    private mutating func longKey(_ first: UInt8, _ depth: Int) -> Bool {
        let start = position
        guard item(depth) else { return false }
        // Integers and bytes have one form.
        return first < 0x60 || isCanonical(from: start)
    }

    /// Whether all texts of the item that was read last are in form C, and all floats as short as can be, with one zero
    /// and one NaN.
    private func isCanonical(from start: Int) -> Bool {
        var offset = start
        while offset < position {
            let (major, argument, next) = DecodingSource.head(at: offset, in: bytes)
            let end = major == 2 || major == 3 ? next + Int(argument) : next
            if major == 3, !isCanonicalText(next..<end) { return false }
            if major == 7, !isCanonicalFloat(base[offset], argument) { return false }
            offset = end
        }
        return true
    }

    private func isCanonicalFloat(_ first: UInt8, _ bits: UInt64) -> Bool {
        switch first {
        case 0xF9:
            let half = UInt16(truncatingIfNeeded: bits)
            return half != 0x8000 && (half == 0x7E00 || !HalfPrecision.value(bits: half).isNaN)
        case 0xFA:
            let single = Float(bitPattern: UInt32(truncatingIfNeeded: bits))
            return !single.isNaN && HalfPrecision.bits(exactly: single) == nil
        case 0xFB:
            let double = Double(bitPattern: bits)
            return !double.isNaN && Double(Float(double)) != double
        default: return true
        }
    }

    // MARK: Texts

    /// Where the text that was read last begins; beyond the end if it is cut off.
    private var textStart = 0

    /// Reads past a text with a head of one byte.
    ///
    /// - Returns: whether it is ASCII; what else it may be is asked for next.
    @inline(__always)
    private mutating func shortText(_ first: UInt8) -> Bool {
        position &+= 1
        return text(UInt64(first & 0x1F))
    }

    @inline(__always)
    private mutating func text(_ count: UInt64) -> Bool {
        textStart = position
        guard take(count) else {
            textStart = .max
            return false
        }
        return isASCII(textStart, Int(truncatingIfNeeded: count))
    }

    /// Looks at eight bytes at a time; those of the last word that belong to the next items are left out.
    @inline(__always)
    private func isASCII(_ start: Int, _ count: Int) -> Bool {
        let text = UnsafeRawPointer(base + start)
        var bits: UInt64 = 0
        var index = 0
        while index &+ 8 <= count {
            bits |= text.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            index &+= 8
        }
        if start &+ index &+ 8 <= bytes.count {
            let word = text.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            bits |= UInt64(littleEndian: word) & ~(.max &<< UInt64(truncatingIfNeeded: (count &- index) &* 8))
        } else {
            while index < count {
                bits |= UInt64(text.load(fromByteOffset: index, as: UInt8.self))
                index &+= 1
            }
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }

    /// Whether the text that was read last is UTF-8, and has no endless run of marks.
    @inline(never)
    private func isText() -> Bool {
        guard textStart <= position else { return false }
        let content = UnsafeBufferPointer(rebasing: bytes[textStart..<position])
        guard let text = String(validating: content, as: UTF8.self) else { return false }
        return !text.hasTooManyMarks
    }

    /// Whether the text that was read last is UTF-8 in form C.
    @inline(never)
    private func isCanonicalText() -> Bool { isText() && isCanonicalText(textStart..<position) }

    /// Whether a text that is UTF-8 is in form C.
    private func isCanonicalText(_ range: Range<Int>) -> Bool {
        let text = UnsafeBufferPointer(rebasing: bytes[range])
        return text.elementsEqual(String(decoding: text, as: UTF8.self).canonical.utf8)
    }
}
