/// CRC-32C (Castagnoli), as in RFC 3720: finds every run of up to 32 changed bits, and others but for one in 4 billion.
public struct Checksum: Hashable, Sendable {
    private var remainder: UInt32 = .max

    /// The checksum of nothing.
    public init() {}

    /// What came so far, summed up.
    public var value: UInt32 { ~remainder }

    /// Goes on with more bytes.
    public mutating func combine(_ bytes: some Collection<UInt8>) {
        if bytes.withContiguousStorageIfAvailable({ combine($0) }) == nil {
            Array(bytes).withUnsafeBufferPointer { combine($0) }
        }
    }

    /// Goes on with a number, as 8 bytes, the least significant one first.
    public mutating func combine(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { bytes in combine(bytes.bindMemory(to: UInt8.self)) }
    }

    /// Eight bytes at a time, each through a table of its own: the next eight depend on no more than four of these.
    private mutating func combine(_ bytes: UnsafeBufferPointer<UInt8>) {
        var remainder = remainder
        Self.tables.withUnsafeBufferPointer { tables in
            var index = 0
            let raw = UnsafeRawBufferPointer(bytes)
            while index + 8 <= bytes.count {
                let word =
                    UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ UInt64(remainder)
                remainder = 0
                for place in 0..<8 {
                    remainder ^= tables[(7 - place) << 8 | Int(truncatingIfNeeded: word >> (8 * UInt64(place)) & 0xFF)]
                }
                index += 8
            }
            while index < bytes.count {
                remainder = tables[Int((remainder ^ UInt32(bytes[index])) & 0xFF)] ^ remainder >> 8
                index += 1
            }
        }
        self.remainder = remainder
    }

    /// The generator's coefficients, the highest one in the lowest bit.
    private static let polynomial: UInt32 = 0x82F6_3B78

    /// For each place in a group of eight the remainder that a byte leaves there.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 << 8)
        for byte in 0..<256 {
            tables[byte] = (0..<8).reduce(UInt32(byte)) { remainder, _ in
                remainder & 1 == 0 ? remainder >> 1 : remainder >> 1 ^ polynomial
            }
        }
        for index in 256..<(8 << 8) {
            let before = tables[index - 256]
            tables[index] = tables[Int(before & 0xFF)] ^ before >> 8
        }
        return tables
    }()
}
