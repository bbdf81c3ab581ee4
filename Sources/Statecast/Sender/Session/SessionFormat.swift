import StatecastFiles
import StatecastJournal

/// The header of a session file: its format, the process that has it open, and how many bytes were acknowledged.
enum SessionHeader {
    static let byteCount = 256
    private static let title = "statecast session file, format "
    private static let version = 1
    private static let firstLine = Array("\(title)\(version)\n".utf8)
    private static let holderRange = 64..<224

    static func bytes(acknowledged: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: UInt8(ascii: " "), count: byteCount)
        bytes.replaceSubrange(..<firstLine.count, with: firstLine)
        bytes.replaceSubrange(holderRange, with: holder)
        bytes.replaceSubrange(acknowledgedOffset..., with: acknowledgedBytes(acknowledged))
        return bytes
    }

    enum Fault: Error, Equatable {
        /// The file was not written by a sender.
        case foreign
        /// A later version wrote the file.
        case newer
        /// The file is empty.
        case unwritten
        case damaged
    }

    /// The number of acknowledged bytes.
    static func acknowledged(_ bytes: [UInt8]) throws(Fault) -> Int {
        guard !bytes.isEmpty else { throw .unwritten }
        guard bytes.starts(with: Array(title.utf8)) else { throw .foreign }
        guard bytes.count >= byteCount else { throw .damaged }
        guard bytes.starts(with: firstLine) else {
            let digits = bytes[title.utf8.count...].prefix { $0 != UInt8(ascii: "\n") }
            guard let found = Int(String(decoding: digits, as: UTF8.self)), found > version else { throw .damaged }
            throw .newer
        }
        let count = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: acknowledgedOffset, as: UInt64.self) }
        let acknowledged = Int(clamping: UInt64(littleEndian: count))
        guard Array(bytes[acknowledgedOffset..<byteCount]) == acknowledgedBytes(acknowledged) else { throw .damaged }
        return acknowledged
    }

    // MARK: Holder

    static let holderOffset = holderRange.lowerBound

    /// The description of this process, padded.
    static let holder: [UInt8] = {
        let text = Array(processDescription.utf8.prefix(holderRange.count - 1))
        let padding = Array(repeating: UInt8(ascii: " "), count: holderRange.count - 1 - text.count)
        return text + padding + [UInt8(ascii: "\n")]
    }()

    static func holder(in bytes: [UInt8]) -> String {
        guard bytes.count >= byteCount else { return "another process" }
        let end = bytes[holderRange].lastIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }
        return end.map { String(decoding: bytes[holderRange.lowerBound...$0], as: UTF8.self) } ?? "another process"
    }

    // MARK: Acknowledged bytes

    static let acknowledgedOffset = byteCount - 16

    /// The number and its checksum.
    static func acknowledgedBytes(_ count: Int) -> [UInt8] {
        littleEndian(UInt64(count)) + littleEndian(UInt64(Checksum.of([UInt64(count)])))
    }
}

/// The records of a session file. Each has a length, a checksum of the length and the offset, a checksum of the body,
/// and the body.
enum SessionRecords {
    struct Damage: Error, Equatable {
        let offset: Int
        let message: String
    }

    static func record(_ body: [UInt8], at offset: Int) -> [UInt8] {
        head(UInt32(body.count), at: offset) + littleEndian(Checksum.of(body)) + body
    }

    /// The bodies, and the end of the last one. Records after the `acknowledged` bytes may be incomplete: their writing
    /// was interrupted, and no action of theirs was sent.
    static func read(_ file: [UInt8], acknowledged: Int) throws(Damage) -> (bodies: [[UInt8]], end: Int) {
        var bodies: [[UInt8]] = []
        var offset = SessionHeader.byteCount
        do throws(Damage) {
            while let body = try body(in: file, at: offset) {
                bodies.append(body)
                offset += headByteCount + body.count
            }
        } catch {
            // A crash of the system can leave any part of the record that was being written, which was the last one.
            guard offset >= acknowledged, !hasHead(in: file, after: offset) else { throw error }
        }
        guard offset >= acknowledged else {
            throw Damage(offset: offset, message: "it ends there, and \(acknowledged) bytes were acknowledged")
        }
        return (bodies, offset)
    }

    private static let headByteCount = 12

    /// The record at `offset`; `nil` at the end of the file and for an incomplete record.
    private static func body(in file: [UInt8], at offset: Int) throws(Damage) -> [UInt8]? {
        guard file.count - offset >= headByteCount else { return nil }
        let length = number(in: file, at: offset)
        guard Array(file[offset..<(offset + 8)]) == head(length, at: offset) else {
            throw Damage(offset: offset, message: "no record begins there")
        }
        let start = offset + headByteCount
        guard file.count - start >= Int(length) else { return nil }
        let body = Array(file[start..<(start + Int(length))])
        guard number(in: file, at: offset + 8) == Checksum.of(body) else {
            throw Damage(offset: offset, message: "the record there has a wrong checksum")
        }
        return body
    }

    private static func hasHead(in file: [UInt8], after offset: Int) -> Bool {
        (offset..<max(offset, file.count - headByteCount)).dropFirst().contains { offset in
            let length = number(in: file, at: offset)
            return file.count - offset - headByteCount >= Int(length)
                && number(in: file, at: offset + 4) == Checksum.of([UInt64(offset), UInt64(length)])
        }
    }

    private static func head(_ length: UInt32, at offset: Int) -> [UInt8] {
        littleEndian(length) + littleEndian(Checksum.of([UInt64(offset), UInt64(length)]))
    }

    private static func number(in file: [UInt8], at offset: Int) -> UInt32 {
        UInt32(littleEndian: file.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) })
    }
}

private func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian, Array.init)
}
