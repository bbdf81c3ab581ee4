/// Checks whether bytes are one whole item in the deterministic form: shortest heads, definite lengths, texts in UTF-8,
/// the keys of maps sorted, different and in Unicode's form C.
///
/// Bytes that fail the check may still be valid: `CBORReader` reads them, or reports the error. Floats that could be
/// shorter, and other spellings of NaN, pass outside of keys.
struct DeterministicCheck {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let base: UnsafePointer<UInt8>
    /// The read position; never beyond the end.
    private var position = 0
    private let maxDepth: Int

    static func passes(_ bytes: [UInt8], _ limits: CodingLimits) -> Bool {
        bytes.withUnsafeBufferPointer { passes($0, limits) }
    }

    static func passes(_ bytes: UnsafeBufferPointer<UInt8>, _ limits: CodingLimits) -> Bool {
        end(ofFirst: bytes, limits) == bytes.count
    }

    /// Where the item ends that comes first; `nil` if it fails the check.
    static func end(ofFirst bytes: UnsafeBufferPointer<UInt8>, _ limits: CodingLimits) -> Int? {
        guard var check = DeterministicCheck(bytes, maxDepth: limits.maxDepth), check.item(0) else { return nil }
        return check.position
    }

    private init?(_ bytes: UnsafeBufferPointer<UInt8>, maxDepth: Int) {
        guard let base = bytes.baseAddress else { return nil }
        self.bytes = bytes
        self.base = base
        self.maxDepth = maxDepth
    }

    // MARK: Items

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
        guard let head = CBORHead(at: position, in: bytes), head.next - position == CBORHead.size(of: head.argument)
        else { return false }
        position = head.next
        switch head.major {
        case 0, 1: return true
        case 2: return advance(by: head.argument)
        case 3: return text(head.argument) || isText()
        case 4: return depth < maxDepth && items(head.argument, depth + 1)
        case 5: return depth < maxDepth && entries(head.argument, depth + 1)
        default: return depth < maxDepth && item(depth + 1)
        }
    }

    /// Refuses `undefined`, which is read as null.
    private mutating func float(_ first: UInt8) -> Bool {
        switch first {
        case 0xF9: advance(by: 3)
        case 0xFA: advance(by: 5)
        case 0xFB: advance(by: 9)
        default: false
        }
    }

    @inline(__always)
    private mutating func advance(by count: UInt64) -> Bool {
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

    /// Whether a key precedes the next one, which ends at the position and has the same first eight bytes.
    @inline(never)
    private func isBelow(_ key: Int, _ next: Int) -> Bool {
        byteOrder(bytes, key..<CheckedItems(bytes: bytes).end(of: key), next..<position) < 0
    }

    /// Reads past a key; `nil` if it may not be in canonical form.
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

    /// Whether the item that was read last has only texts in form C and only shortest floats, with one zero and one
    /// NaN.
    private func isCanonical(from start: Int) -> Bool {
        var offset = start
        while offset < position {
            let head = CheckedItems(bytes: bytes).head(at: offset)
            let end = head.major == 2 || head.major == 3 ? head.next + Int(head.argument) : head.next
            if head.major == 3, !isCanonicalText(head.next..<end) { return false }
            if head.major == 7, !CBORHead.isCanonical(base[offset], bits: head.argument) { return false }
            offset = end
        }
        return true
    }

    // MARK: Texts

    /// The start of the text that was read last; `Int.max` if it is cut off.
    private var textStart = 0

    /// Reads past a text with a head of one byte.
    ///
    /// - Returns: Whether it is ASCII; if not, `isText` checks it.
    @inline(__always)
    private mutating func shortText(_ first: UInt8) -> Bool {
        position &+= 1
        return text(UInt64(first & 0x1F))
    }

    @inline(__always)
    private mutating func text(_ count: UInt64) -> Bool {
        textStart = position
        guard advance(by: count) else {
            textStart = .max
            return false
        }
        return UnsafeBufferPointer(rebasing: bytes[textStart..<position]).isASCII
    }

    /// Whether the text that was read last is UTF-8 and within the limit of combining marks.
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
