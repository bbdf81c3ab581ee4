public import StatecastCore
import StatecastCryptography

/// The random identity of one history. Revisions of different lineages are unrelated.
///
/// A journal creates it once; a primary without a journal begins a new lineage at each start.
public struct Lineage: Hashable, Sendable, CustomStringConvertible {
    /// 64 random bits.
    public let bits: UInt64

    /// Wraps an existing identity.
    public init(bits: UInt64) { self.bits = bits }

    package init(using generator: inout some RandomNumberGenerator) { bits = generator.next() }

    /// 16 hexadecimal digits.
    public var description: String { Hexadecimal.text(bits) }
}

/// Identifies one join, so that a replica can match the answer to its request.
package struct Nonce: Hashable, Sendable, CustomStringConvertible {
    package let bits: UInt64
    package init(bits: UInt64) { self.bits = bits }
    package init(using generator: inout some RandomNumberGenerator) { bits = generator.next() }
    package var description: String { Hexadecimal.text(bits) }

    /// The identity of the replica that announces itself with it: others see it, and cannot find the nonce from it.
    package var peerID: String { withUnsafeBytes(of: bits.bigEndian) { SessionID.peerID(of: $0) } }
}

/// The secret with which a sender continues its session: 128 random bits. Only frames of actions and the session file
/// contain them.
///
/// A class, because machines, directives and frames that hold it are copied often.
package final class SessionSecret: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64
    /// The identity of the session, from which the secret cannot be found.
    package let session: SessionID

    package init(high: UInt64, low: UInt64) {
        (self.high, self.low) = (high, low)
        let digest = withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { ShortDigest(of: $0, domain: "sc-session") }
        session = SessionID(high: digest.high, low: digest.low)
    }

    package convenience init(using generator: inout some RandomNumberGenerator) {
        self.init(high: generator.next(), low: generator.next())
    }

    package static func == (left: SessionSecret, right: SessionSecret) -> Bool {
        (left.high, left.low) == (right.high, right.low)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(session) }

    /// Names the session, and not its secret.
    package var description: String { "the secret of session \(session)" }
}

/// The identity of a sender's numbered sequence of actions: a digest of 128 bits of the session's secret. Topics, the
/// journal and logs show it.
public struct SessionID: Hashable, Sendable, CustomStringConvertible {
    /// The first 64 bits.
    public let high: UInt64
    /// The last 64 bits.
    public let low: UInt64

    /// Wraps an existing identity.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The identity of its sender in the list of peers, whose readers may have no right to the session's receipts.
    package var peerID: String { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Self.peerID(of: $0) } }

    fileprivate static func peerID(of bytes: UnsafeRawBufferPointer) -> String {
        Hexadecimal.text(ShortDigest(of: bytes, domain: "sc-peer").high)
    }

    /// The primary's own session, for the actions of its effects, middlewares and local code.
    public static let primary = SessionID(high: 0, low: 0)

    /// 32 hexadecimal digits.
    public var description: String { String(decoding: digits, as: UTF8.self) }

    /// The characters of the description, in ASCII.
    var digits: [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity(32)
        Hexadecimal.append(high, to: &digits)
        Hexadecimal.append(low, to: &digits)
        return digits
    }

    /// Parses 32 lower-case hexadecimal digits; `nil` for anything else.
    public init?(_ text: some StringProtocol) { self.init(digits: Array(text.utf8)[...]) }

    init?(digits: ArraySlice<UInt8>) {
        guard digits.count == 32, let high = Hexadecimal.bits(digits.prefix(16)),
            let low = Hexadecimal.bits(digits.suffix(16))
        else { return nil }
        self.init(high: high, low: low)
    }
}

/// The name under which a replica is listed, which it claims: 1 to 64 of the characters `a-z A-Z 0-9 . _ - : @`.
public struct PeerName: Hashable, Sendable, CustomStringConvertible {
    private let text: String

    static let maxBytes = 64

    /// The name with `_` instead of other characters, cut to its maximum size.
    public init(_ text: String) {
        let allowed = text.utf8.map { Self.isAllowed($0) ? $0 : UInt8(ascii: "_") }
        self.text = allowed.isEmpty ? "_" : String(decoding: allowed.prefix(Self.maxBytes), as: UTF8.self)
    }

    /// `nil` unless the bytes are a well-formed name.
    init?(utf8 bytes: ArraySlice<UInt8>) {
        guard (1...Self.maxBytes).contains(bytes.count), bytes.allSatisfy(Self.isAllowed) else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-", ":", "@": true
        default: false
        }
    }

    /// The name.
    public var description: String { text }
}

/// The name of a store: 1 to 64 of the characters `a-z A-Z 0-9 . _ -`, which topics contain unescaped.
public struct StoreName: Hashable, Sendable, CustomStringConvertible, Comparable {
    /// The name.
    public let text: String

    /// The maximum size of a name.
    public static let maxBytes = 64

    /// Validates a name.
    ///
    /// - Throws: `Rejection` with code `malformed`, whose message names the wrong character or length.
    public init(_ text: String) throws(Rejection) {
        guard (1...Self.maxBytes).contains(text.utf8.count) else {
            throw Rejection(
                .malformed,
                "a store's name has 1 to \(Self.maxBytes) characters, \"\(text.prefix(80))\" has \(text.utf8.count)"
            )
        }
        for character in text.unicodeScalars where !Self.isAllowed(character) {
            throw Rejection(
                .malformed,
                "a store's name may contain a-z A-Z 0-9 . _ and -, \"\(text)\" contains \"\(character)\""
            )
        }
        self.text = text
    }

    /// `nil` unless the bytes are a well-formed name.
    init?(utf8 bytes: ArraySlice<UInt8>) {
        guard (1...Self.maxBytes).contains(bytes.count),
            bytes.allSatisfy({ Self.isAllowed(Unicode.Scalar($0)) })
        else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
    }

    private static func isAllowed(_ character: Unicode.Scalar) -> Bool {
        switch character {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": true
        default: false
        }
    }

    /// The name.
    public var description: String { text }

    /// The end of the name of the store that lists the peers of another.
    package static let suffixOfPeers = ".peers"

    /// The store that lists the peers of this one; `nil` if its name would be too long, or if this one is such a list.
    package var peers: StoreName? { isOfPeers ? nil : try? StoreName(text + Self.suffixOfPeers) }

    /// Whether it lists the peers of another store.
    package var isOfPeers: Bool { text.hasSuffix(Self.suffixOfPeers) }

    /// Orders by the text.
    public static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

/// 64 bits as exactly 16 lower-case hexadecimal digits, the form of identities in topics.
enum Hexadecimal {
    static func text(_ bits: UInt64) -> String {
        var digits: [UInt8] = []
        append(bits, to: &digits)
        return String(decoding: digits, as: UTF8.self)
    }

    /// Appends the digits in ASCII. Without strings, because the topic of each message to a sender has some.
    static func append(_ bits: UInt64, to digits: inout [UInt8]) {
        for shift in stride(from: 60, through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: bits >> shift) & 15
            digits.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }

    /// `nil` unless there are exactly 16 lower-case digits: an identity has exactly one topic.
    static func bits(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard digits.count == 16 else { return nil }
        var bits: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): bits = bits << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): bits = bits << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return bits
    }

    /// The number in at most eight bytes.
    static func bits(bigEndian bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The numbers in the first and in the last eight bytes.
    static func words(bigEndian bytes: ArraySlice<UInt8>) -> (UInt64, UInt64) {
        (bits(bigEndian: bytes.prefix(8)), bits(bigEndian: bytes.suffix(8)))
    }
}
