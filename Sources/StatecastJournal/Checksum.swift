import CStatecastChecksum

/// CRC-32C (Castagnoli, RFC 3720): detects each burst of up to 32 changed bits, and all but one in 4 billion other
/// changes.
package struct Checksum: Hashable, Sendable {
    private var remainder: UInt32 = .max

    package init() {}

    package var value: UInt32 { ~remainder }

    /// The checksum of numbers, 8 bytes each, and bytes that follow them.
    package static func of(_ numbers: [UInt64], _ bytes: [UInt8] = []) -> UInt32 {
        var checksum = Checksum()
        for number in numbers { checksum.combine(number) }
        checksum.combine(bytes)
        return checksum.value
    }

    package static func of(_ bytes: [UInt8]) -> UInt32 { of([] as [UInt64], bytes) }

    package mutating func combine(_ bytes: some Collection<UInt8>) {
        if bytes.withContiguousStorageIfAvailable({ combine(UnsafeRawBufferPointer($0)) }) == nil {
            Array(bytes).withUnsafeBytes { combine($0) }
        }
    }

    /// Adds a number as 8 bytes, the least significant one first.
    package mutating func combine(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { combine($0) }
    }

    private mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        remainder =
            Self.hasInstruction
            ? statecast_crc32c(remainder, bytes.baseAddress, bytes.count) : Self.remainder(remainder, bytes)
    }

    private static let hasInstruction = statecast_has_crc32c()

    /// The remainder after further bytes, for a processor without the instruction.
    ///
    /// Processes eight bytes at a time, each with its own table, so that only four of them depend on the previous
    /// eight.
    static func remainder(_ start: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var remainder = start
        tables.withUnsafeBufferPointer { tables in
            var index = 0
            while index + 8 <= bytes.count {
                let word =
                    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                    ^ UInt64(remainder)
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
        return remainder
    }

    /// The generator's coefficients; the highest one is the lowest bit.
    private static let polynomial: UInt32 = 0x82F6_3B78

    /// The remainder of each byte at each place in a group of eight.
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
