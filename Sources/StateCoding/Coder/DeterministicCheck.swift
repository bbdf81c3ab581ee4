/// Finds out whether bytes are one whole item in the deterministic form: shortest heads, definite lengths, texts in UTF-8,
/// the keys of maps sorted, different and in Unicode's form C.
///
/// A no says nothing more: `CBORReader` then finds what is wrong, or reads what is merely written otherwise. (Floats that
/// could be shorter, and other spellings of NaN, pass: they are read all the same.)
struct DeterministicCheck {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private let depthMax: Int

    static func passes(_ bytes: [UInt8], _ limits: CodingLimits) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            var check = DeterministicCheck(bytes: bytes, depthMax: limits.depthMax)
            return check.item(0) && check.position == bytes.count
        }
    }

    private init(bytes: UnsafeBufferPointer<UInt8>, depthMax: Int) {
        self.bytes = bytes
        self.depthMax = depthMax
    }

    private mutating func item(_ depth: Int) -> Bool {
        guard position < bytes.count else { return false }
        let first = bytes[position]
        if first >= 0xE0 { return simple(first) }
        guard let argument = argument(first & 0x1F) else { return false }
        switch first >> 5 {
        case 0, 1: return true
        case 2: return take(argument)
        case 3: return text(argument)
        case 4: return depth < depthMax && items(argument, depth + 1)
        case 5: return depth < depthMax && entries(argument, depth + 1)
        default: return depth < depthMax && item(depth + 1)
        }
    }

    /// The bools, null and floats; `undefined` counts as another way to write null.
    private mutating func simple(_ first: UInt8) -> Bool {
        switch first {
        case 0xF4, 0xF5, 0xF6: take(1)
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
        var argument: UInt64 = 0
        for index in position..<(position + width) { argument = argument << 8 | UInt64(bytes[index]) }
        position += width
        let least: UInt64 = width == 1 ? 24 : 1 << UInt64(width * 4)
        return argument >= least ? argument : nil
    }

    private mutating func take(_ count: UInt64) -> Bool {
        guard count <= UInt64(bytes.count - position) else { return false }
        position += Int(count)
        return true
    }

    private mutating func text(_ count: UInt64) -> Bool {
        let start = position
        guard take(count) else { return false }
        let content = UnsafeBufferPointer(rebasing: bytes[start..<position])
        return isASCII(content) || String(validating: content, as: UTF8.self) != nil
    }

    private func isASCII(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var bits: UInt8 = 0
        for byte in text { bits |= byte }
        return bits < 0x80
    }

    private mutating func items(_ count: UInt64, _ depth: Int) -> Bool {
        guard count <= UInt64(bytes.count - position) else { return false }
        for _ in 0..<count { guard item(depth) else { return false } }
        return true
    }

    private mutating func entries(_ count: UInt64, _ depth: Int) -> Bool {
        guard count <= UInt64(bytes.count - position) / 2 else { return false }
        var last: Range<Int>?
        for _ in 0..<count {
            guard let key = key(depth) else { return false }
            if let last, byteOrder(bytes, last, key) >= 0 { return false }
            guard item(depth) else { return false }
            last = key
        }
        return true
    }

    /// Reads past a key; `nil` if it may not be its own canonical form.
    private mutating func key(_ depth: Int) -> Range<Int>? {
        let start = position
        guard start < bytes.count else { return nil }
        switch bytes[start] >> 5 {
        case 0, 1, 2: return item(depth) ? start..<position : nil
        case 3:
            guard let count = argument(bytes[start] & 0x1F) else { return nil }
            let content = position
            guard take(count) else { return nil }
            let name = UnsafeBufferPointer(rebasing: bytes[content..<position])
            if isASCII(name) { return start..<position }
            guard String(validating: name, as: UTF8.self) != nil,
                name.elementsEqual(String(decoding: name, as: UTF8.self).canonical.utf8)
            else {
                return nil
            }
            return start..<position
        default: return nil
        }
    }
}
