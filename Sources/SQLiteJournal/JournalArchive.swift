internal import Journal
internal import StateCoding
package import StateCore
internal import SyncProtocol

/// A journal as a stream of bytes, for storage and transport; see ``ArchiveItem`` for its format.
package enum JournalArchive {
    /// Writes the present content of a journal, also while a primary writes to the journal.
    ///
    /// - Parameter write: receives the bytes in order.
    package static func export(_ journal: JournalReader, _ write: @escaping ([UInt8]) throws -> Void) throws {
        try journal.checkEnd()
        let contents = try journal.contents()
        var snapshots = try journal.snapshots()[...]
        guard let oldest = snapshots.popFirst() else { throw journal.directory.damaged("it has no snapshot") }
        var writer = ArchiveWriter(write)
        try writer.append(.identity(contents.identity))
        for epoch in contents.epochs { try writer.append(.epoch(epoch)) }
        try writer.append(.snapshot(journal.snapshot(oldest)))
        var last = oldest.sequence
        var failure: (any Error)?
        try journal.forEachRecord(after: oldest.sequence) { record throws(JournalFailure) in
            // Later records were appended during the export.
            guard record.sequence <= contents.last else { return false }
            do {
                try writer.append(.record(record))
                last = record.sequence
                while let entry = snapshots.first, entry.sequence <= last {
                    if let snapshot = try journal.snapshotIfKept(entry) { try writer.append(.snapshot(snapshot)) }
                    snapshots.removeFirst()
                }
            } catch { failure = error }
            return failure == nil && last < contents.last
        }
        if let failure { throw failure }
        guard last == contents.last else { throw journal.directory.damaged("it ends before record \(contents.last)") }
        try writer.finish()
    }

    /// Creates a journal from an archive, with a new lineage.
    ///
    /// - Parameters:
    ///   - path: a directory that does not exist or is empty.
    ///   - begun: the time at which the new lineage begins.
    ///   - read: returns the next bytes, any number of them; `nil` at the end of the archive.
    /// - Throws: ``JournalFailure``; then there is nothing at the path.
    package static func `import`(
        to path: String,
        begun: Timestamp,
        _ read: @escaping () throws -> [UInt8]?
    ) throws -> JournalCopy {
        var reader = ArchiveReader(read)
        guard case .identity(let old) = try reader.next() else {
            throw reader.damaged("the identity of a store was expected")
        }
        var epochs: [EpochStart] = []
        var item = try reader.next()
        while case .epoch(let start) = item {
            epochs.append(start)
            item = try reader.next()
        }
        guard case .snapshot(let first) = item else { throw reader.damaged("a snapshot was expected") }
        let identity = old.inNewLineage(begun: begun)
        var end = first.entry
        try JournalBuilder.write(to: path, identity, from: first, as: .journal) { builder throws(JournalFailure) in
            try builder.claim(epochs)
            do { try append(&reader, to: builder) } catch let failure as JournalFailure { throw failure } catch {
                throw JournalFailure(.inputOutput, "\(error)")
            }
            end = builder.last
        }
        return JournalCopy(identity: identity, from: first.entry, to: end)
    }

    private static func append(_ reader: inout ArchiveReader, to builder: JournalBuilder) throws {
        var records: [JournalRecord] = []
        while true {
            let count = reader.count
            let item = try reader.next()
            if case .record(let record) = item {
                records.append(record)
                if records.count < 256 { continue }
            }
            try builder.append(records)
            records = []
            switch item {
            case .record: continue
            case .snapshot(let snapshot) where snapshot.entry == builder.last: try builder.store(snapshot)
            case .end(count):
                try reader.requireEnd()
                return
            default: throw reader.damaged("it is of the wrong kind")
            }
        }
    }
}

/// An item of an archive.
///
/// An archive is a sequence of CBOR items (RFC 8742). Each is an array of a byte string, which holds the item itself in
/// CBOR, and its CRC-32C as a byte string of 4 bytes, the most significant one first. In order:
/// - `[0, "statecast-journal", 1, store, lineage, begun]`;
/// - for each incarnation of the primary `[1, epoch, revision, stateVersion, time]`;
/// - `[2, sequence, revision, context, state]`, the snapshot at which the history begins;
/// - for each record `[3, sequence, from, to, body]`, followed by the snapshot after that record, if any;
/// - `[4, count]`, the number of preceding items.
private enum ArchiveItem: Hashable {
    case identity(JournalIdentity)
    case epoch(EpochStart)
    case snapshot(JournalSnapshot)
    case record(JournalRecord)
    case end(count: Int)

    private static let name = "statecast-journal"
    private static let version: UInt64 = 1

    var encoded: [UInt8] {
        var writer = CBORWriter()
        switch self {
        case .identity(let identity):
            writer.array(count: 6)
            writer.unsigned(0)
            writer.text(Self.name)
            writer.unsigned(Self.version)
            writer.text(identity.store.text)
            writer.unsigned(identity.lineage.bits)
            writer.integer(identity.begun.milliseconds)
        case .epoch(let start):
            writer.array(count: 5)
            writer.unsigned([1, start.epoch.rawValue, start.revision.rawValue, start.stateVersion])
            writer.integer(start.time.milliseconds)
        case .snapshot(let snapshot):
            writer.array(count: 5)
            writer.unsigned([2, snapshot.entry.sequence.rawValue, snapshot.entry.revision.rawValue])
            writer.bytes(snapshot.context)
            writer.bytes(snapshot.state)
        case .record(let record):
            writer.array(count: 5)
            writer.unsigned([3, record.sequence.rawValue, record.from.rawValue, record.to.rawValue])
            writer.bytes(record.body)
        case .end(let count):
            writer.array(count: 2)
            writer.unsigned(4)
            writer.unsigned(UInt64(count))
        }
        return writer.bytes
    }

    init(decoding bytes: [UInt8]) throws(CodingFailure) {
        var reader = CBORReader(bytes)
        _ = try reader.arrayCount()
        switch try reader.unsigned() {
        case 0: self = .identity(try JournalIdentity(from: &reader))
        case 1:
            let numbers = (try reader.unsigned(), try reader.unsigned(), try reader.unsigned())
            let time = Timestamp(milliseconds: try reader.integer())
            let revision = Revision(numbers.1)
            self = .epoch(EpochStart(epoch: Epoch(numbers.0), revision: revision, stateVersion: numbers.2, time: time))
        case 2:
            let sequence = JournalSequence(try reader.unsigned())
            let entry = SnapshotEntry(sequence: sequence, revision: Revision(try reader.unsigned()))
            self = .snapshot(JournalSnapshot(entry, context: try reader.bytes(), state: try reader.bytes()))
        case 3:
            let sequence = JournalSequence(try reader.unsigned())
            let (from, to) = (Revision(try reader.unsigned()), Revision(try reader.unsigned()))
            self = .record(JournalRecord(sequence: sequence, from: from, to: to, body: try reader.bytes()))
        case 4: self = .end(count: Int(clamping: try reader.unsigned()))
        case let kind: throw CodingFailure(.malformed, "expected an item of kind 0 to 4, got \(kind)")
        }
        try reader.requireEnd()
    }

    /// Checks that the item begins an archive of this version.
    static func checkHead(_ reader: inout CBORReader) throws(CodingFailure) {
        let name = try reader.text()
        guard name == Self.name else {
            throw CodingFailure(.malformed, "expected \"\(Self.name)\", got \"\(name.prefix(40))\"")
        }
        let version = try reader.unsigned()
        guard version == Self.version else {
            throw CodingFailure(
                .malformed,
                "expected version \(Self.version), got \(version): use a later statecast-journal"
            )
        }
    }
}

extension CBORWriter {
    fileprivate mutating func unsigned(_ numbers: [UInt64]) { for number in numbers { unsigned(number) } }
}

extension JournalIdentity {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        try ArchiveItem.checkHead(&reader)
        let name = try reader.text()
        let store: StoreName
        do throws(Rejection) { store = try StoreName(name) } catch {
            throw CodingFailure(.malformed, error.message)
        }
        let lineage = Lineage(bits: try reader.unsigned())
        self.init(store: store, lineage: lineage, begun: Timestamp(milliseconds: try reader.integer()))
    }
}

private struct ArchiveWriter {
    private let write: ([UInt8]) throws -> Void
    private var count = 0

    init(_ write: @escaping ([UInt8]) throws -> Void) { self.write = write }

    mutating func append(_ item: ArchiveItem) throws {
        let content = item.encoded
        var writer = CBORWriter(reserving: content.count + 16)
        writer.array(count: 2)
        writer.bytes(content)
        writer.bytes(Self.checksum(of: content))
        try write(writer.bytes)
        count += 1
    }

    static func checksum(of content: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: Checksum.of(content).bigEndian, Array.init)
    }

    mutating func finish() throws { try append(.end(count: count)) }
}

/// Reads and checks the items of an archive.
private struct ArchiveReader {
    private let read: () throws -> [UInt8]?
    private var buffer: ArraySlice<UInt8> = []
    /// The number of items that were read.
    private(set) var count = 0

    /// - Parameter read: returns the next bytes, any number of them; `nil` at the end.
    init(_ read: @escaping () throws -> [UInt8]?) { self.read = read }

    /// - Throws: ``JournalFailure`` with code `damaged` that names the damaged item.
    mutating func next() throws -> ArchiveItem {
        guard try bytes(1) == [0x82] else { throw damaged("it does not begin like an item") }
        let content = try bytes(try byteStringCount())
        guard try byteStringCount() == 4 else { throw damaged("its checksum does not have 4 bytes") }
        guard try bytes(4) == ArchiveWriter.checksum(of: content) else { throw damaged("its checksum is wrong") }
        defer { count += 1 }
        do throws(CodingFailure) { return try ArchiveItem(decoding: content) } catch { throw damaged("\(error)") }
    }

    mutating func requireEnd() throws {
        guard buffer.isEmpty, try read() == nil else { throw damaged("it follows the end") }
    }

    func damaged(_ what: String) -> JournalFailure {
        JournalFailure(.damaged, "the archive is damaged, or is no archive: item \(count): \(what)")
    }

    /// The head of a byte string (RFC 8949, section 3).
    private mutating func byteStringCount() throws -> Int {
        let initial = try bytes(1)[0]
        guard initial >> 5 == 2 else { throw damaged("a byte string was expected") }
        switch initial & 0x1F {
        case let count where count < 24: return Int(count)
        case let kind where kind <= 27:
            let number = try bytes(1 << (kind - 24)).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard let count = Int(exactly: number) else { throw damaged("it would have \(number) bytes") }
            return count
        default: throw damaged("a byte string of known length was expected")
        }
    }

    private mutating func bytes(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            if buffer.isEmpty {
                guard let more = try read() else { throw damaged("the archive ends before its end") }
                buffer = more[...]
            }
            let part = buffer.prefix(count - bytes.count)
            bytes += part
            buffer = buffer.dropFirst(part.count)
        }
        return bytes
    }
}
