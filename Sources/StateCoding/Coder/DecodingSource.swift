/// CBOR that is known to be whole and deterministic, so that it can be read without looking for anything else.
///
/// What comes in another form (indefinite lengths, unsorted keys, longer heads than needed) is brought into this one
/// first, by way of a `Value`. So there is one way to read a type, and it never meets anything unexpected.
final class DecodingSource {
    let bytes: [UInt8]

    /// - Throws: what is wrong with the bytes, with its offset.
    init(_ bytes: [UInt8], limits: CodingLimits) throws(CodingFailure) {
        self.bytes =
            DeterministicCheck.passes(bytes, limits) ? bytes : try Value(decoding: bytes, limits: limits).encoded
    }

    init(_ value: Value) {
        bytes = value.encoded
    }

    /// The head of the item at an offset: its major type, its argument, and where its content begins.
    @inline(__always)
    func head(at offset: Int) -> (major: UInt8, argument: UInt64, next: Int) {
        let first = bytes[offset]
        let information = first & 0x1F
        if information < 24 { return (first >> 5, UInt64(information), offset + 1) }
        let width = 1 << Int(information - 24)
        var argument: UInt64 = 0
        var index = offset + 1
        while index <= offset + width {
            argument = argument << 8 | UInt64(bytes[index])
            index += 1
        }
        return (first >> 5, argument, offset + 1 + width)
    }

    /// Where the item at an offset ends.
    func end(of offset: Int) -> Int {
        var (offset, pending) = (offset, 1)
        while pending > 0 {
            let (major, argument, next) = head(at: offset)
            offset = next
            switch major {
            case 2, 3: offset += Int(argument)
            case 4: pending += Int(argument)
            case 5: pending += 2 * Int(argument)
            case 6: pending += 1
            default: break
            }
            pending -= 1
        }
        return offset
    }
}
