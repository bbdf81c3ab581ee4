internal import Journal

/// The first bytes of a session file: what it is, which process has it, and how much of it was acknowledged.
struct SessionHeader {
    static let byteCount = 256
    private static let title = "statecast session file, format "
    private static let version = 1
    private static let firstLine = Array("\(title)\(version)\n".utf8)
    private static let holderRange = 64..<224

    /// What a file begins with.
    static func bytes(holder: [UInt8], acknowledged: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: UInt8(ascii: " "), count: byteCount)
        bytes.replaceSubrange(..<firstLine.count, with: firstLine)
        bytes.replaceSubrange(holderRange, with: holder)
        bytes.replaceSubrange(markOffset..., with: mark(acknowledged))
        return bytes
    }

    /// Why a file with these bytes is not one to go on with.
    enum Fault: Error, Equatable {
        /// It was not written by a sender.
        case foreign
        case newer
        /// It is empty.
        case unwritten
        case damaged
    }

    /// How many bytes were acknowledged.
    static func acknowledged(_ bytes: [UInt8]) throws(Fault) -> Int {
        guard !bytes.isEmpty else { throw .unwritten }
        guard bytes.starts(with: Array(title.utf8)) else { throw .foreign }
        guard bytes.count >= byteCount else { throw .damaged }
        guard bytes.starts(with: firstLine) else {
            let digits = bytes[title.utf8.count...].prefix { $0 != UInt8(ascii: "\n") }
            guard let found = Int(String(decoding: digits, as: UTF8.self)), found > version else { throw .damaged }
            throw .newer
        }
        let count = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: markOffset, as: UInt64.self) }
        let acknowledged = Int(clamping: UInt64(littleEndian: count))
        guard Array(bytes[markOffset..<byteCount]) == mark(acknowledged) else { throw .damaged }
        return acknowledged
    }

    // MARK: Holder

    static let holderOffset = holderRange.lowerBound

    /// A process, as others are told who has the file.
    static func holder(_ process: Int32, named name: String) -> [UInt8] {
        let text = Array("process \(process) (\(name))".utf8.prefix(holderRange.count - 1))
        return text + Array(repeating: UInt8(ascii: " "), count: holderRange.count - 1 - text.count) + [
            UInt8(ascii: "\n")
        ]
    }

    static func holder(in bytes: [UInt8]) -> String {
        guard bytes.count >= byteCount else { return "another process" }
        let end = bytes[holderRange].lastIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }
        return end.map { String(decoding: bytes[holderRange.lowerBound...$0], as: UTF8.self) } ?? "another process"
    }

    // MARK: Mark

    static let markOffset = byteCount - 16

    static func mark(_ acknowledged: Int) -> [UInt8] {
        var checksum = Checksum()
        checksum.combine(UInt64(acknowledged))
        return bytes(UInt64(acknowledged)) + bytes(UInt64(checksum.value))
    }

    private static func bytes(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.littleEndian, Array.init) }
}
