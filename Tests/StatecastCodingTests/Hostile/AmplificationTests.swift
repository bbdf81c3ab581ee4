import StatecastCoding
import Testing

/// The memory that a decoder allocates for a few bytes of input.
@Suite struct `The memory of decoded input` {
    /// Bytes of memory for each byte of input. One byte can open an array, which is an object of its own.
    static let maxAmplification = 80

    @Test(arguments: CorpusFile.all(.decoder).filter { $0.outcome == "accepted" })
    func `The memory of decoded input is a small multiple of the input`(file: CorpusFile) throws {
        let value = try Value(decoding: file.bytes)
        #expect(value.heapBytes <= 64 + file.bytes.count * Self.maxAmplification)
    }

    @Test(
        arguments: [[0x80], [0xA0], [0x81, 0x00], [0xA1, 0x00, 0x00], [0xC1, 0x00], [0x41, 0x00], [0x61, 0x61]]
            as [[UInt8]]
    )
    func `The memory of decoded input is so for many of the smallest items`(item: [UInt8]) throws {
        let count = 1000
        let input = [0x9A, 0, 0, 0x03, 0xE8] + Array(repeatElement(item, count: count).joined())
        #expect(try Value(decoding: input).heapBytes <= input.count * Self.maxAmplification)
    }

    @Test(arguments: [[0x81], [0xA1, 0x00], [0xC1], [0xA1]] as [[UInt8]])
    func `The memory of decoded input is so for the deepest items`(opening: [UInt8]) throws {
        let deep =
            Array(repeatElement(opening, count: 63).joined()) + [UInt8](repeating: 0, count: opening == [0xA1] ? 64 : 1)
        let input = [0x98, 0x64] + Array(repeatElement(deep, count: 100).joined())
        #expect(try Value(decoding: input).heapBytes <= input.count * Self.maxAmplification)
    }
}

extension Value {
    /// The memory that a value allocates, computed from the layout of objects.
    fileprivate var heapBytes: Int {
        func object(_ bytes: Int) -> Int { (bytes + 16 + 8 + 15) / 16 * 16 }
        func array(_ capacity: Int, _ stride: Int) -> Int { capacity == 0 ? 0 : object(16 + capacity * stride) }
        let stride = MemoryLayout<Value>.stride
        switch self {
        case .null, .bool, .unsigned, .negative, .float: return 0
        case .text(let text): return text.utf8.count <= 15 ? 0 : object(16 + text.utf8.count)
        case .bytes(let bytes): return array(bytes.capacity, 1)
        case .array(let elements): return array(elements.capacity, stride) + elements.reduce(0) { $0 + $1.heapBytes }
        case .map(let map):
            let keys = map.keys
            return 2 * array(keys.capacity, stride) + map.reduce(0) { $0 + $1.key.heapBytes + $1.value.heapBytes }
        case .tagged(_, let content): return object(8 + stride) + content.heapBytes
        }
    }
}
