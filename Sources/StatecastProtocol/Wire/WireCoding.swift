import StatecastCoding
import StatecastCore

/// Reads the elements of frames and records.
extension CBORReader {
    mutating func lineage() throws(CodingFailure) -> Lineage {
        Lineage(bits: Hexadecimal.bits(bigEndian: try identity(of: 8)))
    }

    mutating func secret() throws(CodingFailure) -> SessionSecret {
        let (high, low) = Hexadecimal.words(bigEndian: try identity(of: 16))
        return SessionSecret(high: high, low: low)
    }

    mutating func session() throws(CodingFailure) -> SessionID {
        let bytes = try bytesInPlace()
        guard bytes.count == 17, bytes.first == SessionID.format else {
            throw CodingFailure(
                .malformed,
                "expected a session of 17 bytes that begins with \(SessionID.format), got \(bytes.count)"
            )
        }
        let (high, low) = Hexadecimal.words(bigEndian: bytes.suffix(16))
        return SessionID(high: high, low: low)
    }

    private mutating func identity(of count: Int) throws(CodingFailure) -> ArraySlice<UInt8> {
        let bytes = try bytesInPlace()
        guard bytes.count == count else {
            throw CodingFailure(.malformed, "expected an identity of \(count) bytes, got \(bytes.count)")
        }
        return bytes
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
    mutating func arrayCount(atLeast minCount: Int) throws(CodingFailure) -> Int {
        let count = try arrayCount()
        guard count >= minCount else {
            throw CodingFailure(.malformed, "expected an array of at least \(minCount) elements, got one of \(count)")
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
    mutating func write(_ lineage: Lineage) { withUnsafeBytes(of: lineage.bits.bigEndian) { bytes($0) } }
    mutating func write(_ secret: SessionSecret) {
        withUnsafeBytes(of: (secret.high.bigEndian, secret.low.bigEndian)) { bytes($0) }
    }
    mutating func write(_ session: SessionID) {
        withUnsafeBytes(of: (session.high.bigEndian, session.low.bigEndian)) { bytes([SessionID.format] + $0) }
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
