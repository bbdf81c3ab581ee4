import StateCoding
import StateCore

/// Reads the elements of frames and records.
extension CBORReader {
    mutating func lineage() throws(CodingFailure) -> Lineage { Lineage(bits: try bits(count: 1)[0]) }

    mutating func secret() throws(CodingFailure) -> SessionSecret {
        let bits = try bits(count: 2)
        return SessionSecret(high: bits[0], low: bits[1])
    }

    /// Reads the identity of a session. Journals and session files of versions up to 0.1.0 have the secret instead, in
    /// 16 bytes, and for the primary's own session 16 zero bytes.
    mutating func session() throws(CodingFailure) -> SessionID {
        let bytes = try bytes()
        switch bytes.count {
        case 16:
            let bits = Self.bits(bytes[...])
            guard bits != [0, 0] else { return .primary }
            return SessionSecret(high: bits[0], low: bits[1]).session
        case 17 where bytes[0] == SessionID.format:
            let bits = Self.bits(bytes[1...])
            return SessionID(high: bits[0], low: bits[1])
        default:
            throw CodingFailure(
                .malformed,
                "expected a session of 17 bytes that begins with \(SessionID.format), or one of 16, got \(bytes.count)"
            )
        }
    }

    private mutating func bits(count: Int) throws(CodingFailure) -> [UInt64] {
        let bytes = try bytes()
        guard bytes.count == 8 * count else {
            throw CodingFailure(.malformed, "expected an identity of \(8 * count) bytes, got \(bytes.count)")
        }
        return Self.bits(bytes[...])
    }

    private static func bits(_ bytes: ArraySlice<UInt8>) -> [UInt64] {
        (0..<bytes.count / 8).map { Hexadecimal.bits(bigEndian: bytes.dropFirst(8 * $0).prefix(8)) }
    }

    mutating func quantity<Q: Quantity>(_: Q.Type = Q.self) throws(CodingFailure) -> Q {
        Q(rawValue: try unsigned())
    }

    /// Reads a size or count that fits an `Int`.
    mutating func count() throws(CodingFailure) -> Int {
        let number = try unsigned()
        guard let count = Int(exactly: number) else {
            throw CodingFailure(.malformed, "expected a count below 2^63, got \(number)")
        }
        return count
    }

    mutating func duration() throws(CodingFailure) -> Duration {
        .milliseconds(Int64(clamping: min(try unsigned(), 1 << 40)))
    }

    mutating func timestamp() throws(CodingFailure) -> Timestamp {
        Timestamp(milliseconds: try integer())
    }

    mutating func rejection() throws(CodingFailure) -> Rejection {
        let code = try text()
        return Rejection(Rejection.Code(rawValue: code), try text())
    }

    /// Calls `read` unless the next item is null.
    mutating func optional<T>(
        _ read: (inout CBORReader) throws(CodingFailure) -> T
    ) throws(CodingFailure) -> T? {
        isNull() ? nil : try read(&self)
    }

    mutating func list<T>(
        _ read: (inout CBORReader) throws(CodingFailure) -> T
    ) throws(CodingFailure) -> [T] {
        let count = try arrayCount()
        var items: [T] = []
        // Do not trust a large count: an item needs more memory than the byte that validated its count.
        items.reserveCapacity(min(count, 1024))
        for _ in 0..<count { items.append(try read(&self)) }
        return items
    }

    /// Reads the head of an array to which later versions may append elements.
    mutating func arrayCount(atLeast countMin: Int) throws(CodingFailure) -> Int {
        let count = try arrayCount()
        guard count >= countMin else {
            throw CodingFailure(.malformed, "expected an array of at least \(countMin) elements, got one of \(count)")
        }
        return count
    }

    /// Reads the head of an array of exactly `expected` elements.
    mutating func fixedArray(_ expected: Int) throws(CodingFailure) {
        let count = try arrayCount()
        guard count == expected else {
            throw CodingFailure(.malformed, "expected an array of \(expected) elements, got one of \(count)")
        }
    }
}

extension SessionID {
    /// The first byte of an identity in journals and session files, which tells it from the secret in older ones.
    fileprivate static let format: UInt8 = 1
}

/// Writes the elements of frames and records.
extension CBORWriter {
    mutating func write(_ lineage: Lineage) { bytes(Hexadecimal.bigEndian(lineage.bits)) }
    mutating func write(_ secret: SessionSecret) {
        bytes(Hexadecimal.bigEndian(secret.high) + Hexadecimal.bigEndian(secret.low))
    }
    mutating func write(_ session: SessionID) {
        bytes([SessionID.format] + Hexadecimal.bigEndian(session.high) + Hexadecimal.bigEndian(session.low))
    }
    mutating func write(_ quantity: some Quantity) { unsigned(quantity.rawValue) }
    mutating func write(count: Int) { unsigned(UInt64(count)) }
    mutating func write(_ duration: Duration) { unsigned(UInt64(max(0, duration.milliseconds))) }
    mutating func write(_ time: Timestamp) { integer(time.milliseconds) }
    mutating func write(_ rejection: Rejection) {
        text(rejection.code.rawValue)
        text(rejection.message)
    }
}
