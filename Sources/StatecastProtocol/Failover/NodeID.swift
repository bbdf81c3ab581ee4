/// The identity of a node that shares its stores with others, or of one of its claims: 128 random bits.
package struct NodeID: Hashable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    package init(using generator: inout some RandomNumberGenerator) {
        (high, low) = (generator.next(), generator.next())
    }

    /// Reads 16 bytes, the most significant one first; `nil` for another number of bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        (high, low) = (number(bytes.prefix(8)), number(bytes.dropFirst(8)))
    }

    /// 16 bytes, the most significant one first.
    package var bytes: [UInt8] {
        [high, low].flatMap { number in withUnsafeBytes(of: number.bigEndian, Array.init) }
    }

    /// 32 hexadecimal digits.
    package var description: String {
        var digits: [UInt8] = []
        Hexadecimal.append(high, to: &digits)
        Hexadecimal.append(low, to: &digits)
        return String(decoding: digits, as: UTF8.self)
    }
}
