import CStatecastSodium

/// A digest of 128 bits (BLAKE2b, RFC 7693). If the input has at least 128 random bits, it cannot be found from the
/// digest.
package struct ShortDigest: Hashable, Sendable, CustomStringConvertible {
    /// The first and the last 64 bits.
    package let high: UInt64
    package let low: UInt64

    /// The maximum size of a domain's name, in bytes.
    private static let maxDomainBytes = 16

    /// - Parameter domain: what the input is: equal inputs of different domains have different digests. At most 16
    ///   bytes; the personalization of BLAKE2b.
    package init(of bytes: some Sequence<UInt8>, domain: StaticString) {
        self = Array(bytes).withUnsafeBytes { Self(of: $0, domain: domain) }
    }

    /// As ``init(of:domain:)`` of a sequence. Allocates nothing: a primary hashes for each frame of actions.
    package init(of bytes: UnsafeRawBufferPointer, domain: StaticString) {
        Sodium.isReady
        precondition(domain.utf8CodeUnitCount <= Self.maxDomainBytes, "the domain \(domain) is too long")
        var personal: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &personal) { personal in domain.withUTF8Buffer { personal.copyBytes(from: $0) } }
        var digest: (UInt64, UInt64) = (0, 0)
        let result = withUnsafeMutablePointer(to: &digest) { digest in
            digest.withMemoryRebound(to: UInt8.self, capacity: 16) { digest in
                withUnsafeBytes(of: personal) { personal in
                    let input = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
                    let (size, name) = (UInt64(bytes.count), personal.baseAddress)
                    return crypto_generichash_blake2b_salt_personal(digest, 16, input, size, nil, 0, nil, name)
                }
            }
        }
        precondition(result == 0, "libsodium cannot hash \(bytes.count) bytes")
        (high, low) = (UInt64(bigEndian: digest.0), UInt64(bigEndian: digest.1))
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
