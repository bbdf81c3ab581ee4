internal import Journal

/// The records of a session file: each its length, two checksums and a body.
enum SessionRecords {
    /// Why the bytes cannot be read to their end.
    struct Damage: Error, Equatable {
        let offset: Int
        let message: String
    }

    static func record(_ body: [UInt8], at offset: Int) -> [UInt8] {
        head(UInt32(body.count), at: offset) + bytes(checksum(body)) + body
    }

    /// The bodies, and where the last one ends. What lies beyond `acknowledged` may break off: its writing was cut short,
    /// and nobody relied on it.
    static func read(_ file: [UInt8], acknowledged: Int) throws(Damage) -> (bodies: [[UInt8]], end: Int) {
        var bodies: [[UInt8]] = []
        var offset = SessionHeader.byteCount
        while let body = try body(in: file, at: offset) {
            bodies.append(body)
            offset += headByteCount + body.count
        }
        guard offset >= acknowledged else {
            throw Damage(offset: offset, message: "it breaks off there, and \(acknowledged) bytes were acknowledged")
        }
        return (bodies, offset)
    }

    private static let headByteCount = 12

    /// `nil` where none begins that is whole, because the file ends or a write was cut short.
    private static func body(in file: [UInt8], at offset: Int) throws(Damage) -> [UInt8]? {
        guard file.count - offset >= headByteCount else { return nil }
        let length = number(in: file, at: offset)
        guard Array(file[offset..<(offset + 8)]) == head(length, at: offset) else {
            // The system can end between making room and filling it.
            if file[offset...].allSatisfy({ $0 == 0 }) { return nil }
            throw Damage(offset: offset, message: "no record begins there")
        }
        let start = offset + headByteCount
        guard file.count - start >= Int(length) else { return nil }
        let body = Array(file[start..<(start + Int(length))])
        guard number(in: file, at: offset + 8) == checksum(body) else {
            throw Damage(offset: offset, message: "the record there has a wrong checksum")
        }
        return body
    }

    /// A length, and a checksum of it and of where it stands.
    private static func head(_ length: UInt32, at offset: Int) -> [UInt8] {
        var checksum = Checksum()
        checksum.combine(UInt64(offset))
        checksum.combine(UInt64(length))
        return bytes(length) + bytes(checksum.value)
    }

    private static func checksum(_ body: [UInt8]) -> UInt32 {
        var checksum = Checksum()
        checksum.combine(body)
        return checksum.value
    }

    private static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.littleEndian, Array.init) }

    private static func number(in file: [UInt8], at offset: Int) -> UInt32 {
        UInt32(littleEndian: file.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) })
    }
}
