import StatecastCoding
import Testing

/// The memory that a decoder allocates for a few bytes of input.
@Suite struct `The memory of decoded input` {
    /// Bytes of memory for each byte of input. One byte can open an array, which is an object of its own.
    static let maxAmplification = 80

    @Test(
        arguments: [
            [0x80], [0x81, 0x00], [0xC1, 0x00], [0x41, 0x00], [0x61, 0x61],
            [UInt8](repeating: 0x81, count: 62) + [0x00], [UInt8](repeating: 0xC1, count: 62) + [0x00],
        ] as [[UInt8]]
    )
    func `The memory of decoded input is a small multiple of the input`(item: [UInt8]) throws {
        let input = [0x99, 0x03, 0xE8] + Array(repeatElement(item, count: 1000).joined())
        #expect(try Value(decoding: input).heapBytes <= input.count * Self.maxAmplification)
    }
}

extension Value {
    /// The memory that a value without maps allocates, computed from the layout of objects.
    fileprivate var heapBytes: Int {
        func object(_ bytes: Int) -> Int { (bytes + 16 + 8 + 15) / 16 * 16 }
        func array(_ capacity: Int, _ stride: Int) -> Int { capacity == 0 ? 0 : object(16 + capacity * stride) }
        let stride = MemoryLayout<Value>.stride
        switch self {
        case .text(let text): return text.utf8.count <= 15 ? 0 : object(16 + text.utf8.count)
        case .bytes(let bytes): return array(bytes.capacity, 1)
        case .array(let elements): return array(elements.capacity, stride) + elements.reduce(0) { $0 + $1.heapBytes }
        case .tagged(_, let content): return object(8 + stride) + content.heapBytes
        default: return 0
        }
    }
}
