internal import Journal
internal import StateCoding

/// Items on their way into an archive.
struct ArchiveWriter {
    private let write: ([UInt8]) throws -> Void
    private var count = 0

    init(_ write: @escaping ([UInt8]) throws -> Void) { self.write = write }

    mutating func append(_ item: ArchiveItem) throws {
        let content = item.encoded
        var checksum = Checksum()
        checksum.combine(content)
        var writer = CBORWriter(reserving: content.count + 16)
        writer.array(count: 2)
        writer.bytes(content)
        writer.bytes(withUnsafeBytes(of: checksum.value.bigEndian, Array.init))
        try write(writer.bytes)
        count += 1
    }

    mutating func finish() throws { try append(.end(count: count)) }
}

/// Items as they come out of an archive, each checked.
struct ArchiveReader {
    private let read: () throws -> [UInt8]?
    private var buffer: ArraySlice<UInt8> = []
    /// How many items were read.
    private(set) var count = 0

    /// - Parameter read: the next bytes, however many; `nil` at the end.
    init(_ read: @escaping () throws -> [UInt8]?) { self.read = read }

    /// - Throws: ``JournalFailure`` with code `damaged` that says which item is wrong, or that the end is missing.
    mutating func next() throws -> ArchiveItem {
        let head = try take(1)
        guard head.first == 0x82 else { throw damaged("it does not begin like one") }
        let content = try take(try byteStringCount())
        guard try byteStringCount() == 4 else { throw damaged("its checksum has not 4 bytes") }
        var checksum = Checksum()
        checksum.combine(content)
        guard try take(4) == withUnsafeBytes(of: checksum.value.bigEndian, Array.init) else {
            throw damaged("its checksum is wrong")
        }
        defer { count += 1 }
        do throws(CodingFailure) { return try ArchiveItem(decoding: content) } catch { throw damaged("\(error)") }
    }

    /// - Throws: ``JournalFailure`` if anything follows.
    mutating func requireEnd() throws {
        guard buffer.isEmpty, try read() == nil else { throw damaged("it stands behind the end") }
    }

    func damaged(_ what: String) -> JournalFailure {
        JournalFailure(.damaged, "the archive is damaged, or is none: item \(count): \(what)")
    }

    /// The head of a byte string (RFC 8949, section 3).
    private mutating func byteStringCount() throws -> Int {
        let initial = try take(1)[0]
        guard initial >> 5 == 2 else { throw damaged("a byte string was expected") }
        switch initial & 0x1F {
        case let count where count < 24: return Int(count)
        case let kind where kind <= 27:
            let number = try take(1 << (kind - 24)).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard let count = Int(exactly: number) else { throw damaged("it would have \(number) bytes") }
            return count
        default: throw damaged("a byte string of known length was expected")
        }
    }

    private mutating func take(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            if buffer.isEmpty {
                guard let more = try read() else { throw damaged("the archive ends in the middle of it, or before it") }
                buffer = more[...]
            }
            let part = buffer.prefix(count - bytes.count)
            bytes += part
            buffer = buffer.dropFirst(part.count)
        }
        return bytes
    }
}
