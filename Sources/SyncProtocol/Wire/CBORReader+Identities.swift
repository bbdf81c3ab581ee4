import StateCoding
import StateCore

/// What frames and records are made of.
extension CBORReader {
    mutating func lineage() throws(CodingFailure) -> Lineage { Lineage(bits: try bits(count: 1)[0]) }

    mutating func session() throws(CodingFailure) -> SessionID {
        let bits = try bits(count: 2)
        return SessionID(high: bits[0], low: bits[1])
    }

    private mutating func bits(count: Int) throws(CodingFailure) -> [UInt64] {
        let bytes = try bytes()
        guard bytes.count == 8 * count else {
            throw CodingFailure(.malformed, "an identity of \(8 * count) bytes was expected, \(bytes.count) came")
        }
        return (0..<count).map { Hexadecimal.bits(bigEndian: bytes[(8 * $0)..<(8 * $0 + 8)]) }
    }

    mutating func quantity<Q: Quantity>(_: Q.Type = Q.self) throws(CodingFailure) -> Q {
        Q(rawValue: try unsigned())
    }

    /// A size or count that has to fit into an `Int`.
    mutating func count() throws(CodingFailure) -> Int {
        let number = try unsigned()
        guard let count = Int(exactly: number) else {
            throw CodingFailure(.malformed, "a count below 2^63 was expected, \(number) came")
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

    mutating func outcomes() throws(CodingFailure) -> [Outcome] {
        try list { reader throws(CodingFailure) in
            guard reader.peek == .array else { return .applied(try reader.quantity()) }
            try reader.fixedArray(2)
            return .rejected(try reader.rejection())
        }
    }

    /// Runs `read` unless the next item is null.
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
        // Believed only so far: an item takes more memory than the byte that its count was checked against.
        items.reserveCapacity(min(count, 1024))
        for _ in 0..<count { items.append(try read(&self)) }
        return items
    }

    /// An array of exactly so many elements.
    mutating func fixedArray(_ expected: Int) throws(CodingFailure) {
        let count = try arrayCount()
        guard count == expected else {
            throw CodingFailure(.malformed, "an array of \(expected) elements was expected, one of \(count) came")
        }
    }
}
