/// The random identity of one history. Revisions of two lineages have nothing to do with each other.
///
/// Made with the journal; a primary without one begins a new lineage at each start.
public struct Lineage: Hashable, Sendable, CustomStringConvertible {
    /// 64 random bits.
    public let bits: UInt64

    /// Wraps an identity that came from elsewhere.
    public init(bits: UInt64) { self.bits = bits }

    /// A fresh identity.
    package init(using generator: inout some RandomNumberGenerator) { bits = generator.next() }

    /// 16 hexadecimal digits.
    public var description: String { Hexadecimal.text(bits) }
}

/// Identifies one join, so that its answer cannot be taken for the answer to another.
package struct Nonce: Hashable, Sendable, CustomStringConvertible {
    package let bits: UInt64
    package init(bits: UInt64) { self.bits = bits }
    package init(using generator: inout some RandomNumberGenerator) { bits = generator.next() }
    package var description: String { Hexadecimal.text(bits) }
}

/// A sender's numbered sequence of actions. 128 random bits, so that nobody guesses another's.
public struct SessionID: Hashable, Sendable, CustomStringConvertible {
    /// The first 64 bits.
    public let high: UInt64
    /// The last 64 bits.
    public let low: UInt64

    /// Wraps an identity that came from elsewhere.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A fresh identity.
    package init(using generator: inout some RandomNumberGenerator) {
        self.init(high: generator.next(), low: generator.next())
    }

    /// The primary's own: what its effects, its middlewares and the rest of its process dispatch. No sender may use it.
    public static let primary = SessionID(high: 0, low: 0)

    /// 32 hexadecimal digits.
    public var description: String { Hexadecimal.text(high) + Hexadecimal.text(low) }

    /// Reads 32 lower-case hexadecimal digits; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard digits.count == 32, let high = Hexadecimal.bits(digits[0..<16]),
            let low = Hexadecimal.bits(digits[16..<32])
        else { return nil }
        self.init(high: high, low: low)
    }
}
