/// Items by their offsets.
extension DecodingSource {
    /// The head of the item at an offset: its major type, its argument, and where its content begins.
    @inline(__always)
    func head(at offset: Int) -> (major: UInt8, argument: UInt64, next: Int) {
        Self.head(at: offset, in: content)
    }

    @inline(__always)
    static func head(at offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> (
        major: UInt8, argument: UInt64, next: Int
    ) {
        precondition(offset >= 0 && offset < bytes.count, "the source ends before an item at \(offset)")
        let first = bytes[offset]
        let information = first & 0x1F
        if information < 24 { return (first >> 5, UInt64(information), offset &+ 1) }
        return longHead(at: offset, in: bytes)
    }

    @inline(never)
    private static func longHead(
        at offset: Int,
        in bytes: UnsafeBufferPointer<UInt8>
    ) -> (major: UInt8, argument: UInt64, next: Int) {
        let first = bytes[offset]
        let width = 1 << Int(first & 0x1F - 24)
        guard let base = bytes.baseAddress, bytes.count - offset > width else {
            preconditionFailure("the source ends before an item at \(offset)")
        }
        return (first >> 5, number(base + offset + 1, width), offset + 1 + width)
    }

    /// The big-endian number that so many bytes are: one, two, four or eight.
    @inline(__always)
    static func number(_ bytes: UnsafePointer<UInt8>, _ width: Int) -> UInt64 {
        let bytes = UnsafeRawPointer(bytes)
        return switch width {
        case 1: UInt64(bytes.load(as: UInt8.self))
        case 2: UInt64(UInt16(bigEndian: bytes.loadUnaligned(as: UInt16.self)))
        case 4: UInt64(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
        default: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        }
    }

    @inline(__always)
    subscript(offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < content.count, "the source ends before an item at \(offset)")
        return content[offset]
    }

    /// Copies of parts.
    var bytes: Parts { Parts(source: self) }

    struct Parts {
        fileprivate let source: DecodingSource

        subscript(range: Range<Int>) -> ArraySlice<UInt8> {
            let content = source.content
            precondition(range.upperBound <= content.count, "the source ends before \(range.upperBound)")
            return Array(content[range])[...]
        }
    }

    /// Where the item at an offset ends.
    func end(of offset: Int) -> Int {
        Self.end(of: offset, in: content)
    }

    /// Where the item at an offset ends.
    @inline(__always)
    static func end(of offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        // Nearly all items are short: the first byte says everything.
        let first = bytes[offset]
        switch first {
        case 0x00...0x17, 0x20...0x37, 0xF4...0xF6: return offset + 1
        case 0x60...0x77: return offset + 1 + Int(first & 0x1F)
        default: return longEnd(of: offset, in: bytes)
        }
    }

    @inline(never)
    private static func longEnd(of offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var (offset, pending) = (offset, 1)
        while pending > 0 {
            let first = bytes[offset]
            pending &-= 1
            switch first {
            case 0x00...0x17, 0x20...0x37, 0xF4...0xF6: offset &+= 1
            case 0x60...0x77: offset &+= 1 &+ Int(first & 0x1F)
            case 0xFB: offset &+= 9
            case 0x18...0x1B, 0x38...0x3B: offset &+= 1 &+ 1 &<< Int(first & 0x1F &- 24)
            default:
                let (major, argument, next) = head(at: offset, in: bytes)
                offset = next
                switch major {
                case 2, 3: offset += Int(argument)
                case 4: pending += Int(argument)
                case 5: pending += 2 * Int(argument)
                case 6: pending += 1
                default: break
                }
            }
        }
        return offset
    }
}
