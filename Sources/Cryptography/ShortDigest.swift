internal import CSodium

/// A digest of 128 bits (BLAKE2b, RFC 7693). If the input has at least 128 random bits, it cannot be found from the
/// digest.
package struct ShortDigest: Hashable, Sendable, CustomStringConvertible {
    /// The first and the last 64 bits.
    package let high: UInt64
    package let low: UInt64

    /// The maximum size of a domain's name, in bytes.
    private static let domainBytesMax = 16

    /// - Parameter domain: what the input is: equal inputs of different domains have different digests. At most 16
    ///   bytes; the personalization of BLAKE2b.
    package init(of bytes: some Sequence<UInt8>, domain: StaticString) {
        Sodium.isReady
        precondition(domain.utf8CodeUnitCount <= Self.domainBytesMax, "the domain \(domain) is too long")
        let input = Array(bytes)
        var personal = [UInt8](repeating: 0, count: Self.domainBytesMax)
        domain.withUTF8Buffer { personal.replaceSubrange(0..<$0.count, with: $0) }
        var digest = [UInt8](repeating: 0, count: 16)
        let result = crypto_generichash_blake2b_salt_personal(
            &digest,
            digest.count,
            input,
            UInt64(input.count),
            nil,
            0,
            nil,
            personal
        )
        precondition(result == 0, "libsodium cannot hash \(input.count) bytes")
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        (high, low) = (word(digest[0..<8]), word(digest[8..<16]))
    }

    /// 32 hexadecimal digits, in groups of four: `0123-4567-...`.
    package var description: String {
        [high, low].flatMap { bits in
            (0..<4).map { index in
                let group = String(bits >> (48 - 16 * index) & 0xffff, radix: 16)
                return String(repeating: "0", count: 4 - group.count) + group
            }
        }
        .joined(separator: "-")
    }
}
