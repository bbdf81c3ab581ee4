internal import Journal
internal import StateCoding
internal import StateCore
internal import SyncProtocol

/// One item of an archive: a journal as a sequence of CBOR items (RFC 8742), for keeping, carrying and reading elsewhere.
///
/// Each is an array of a byte string, which holds the item itself in CBOR, and its CRC-32C in a byte string of 4, the most
/// significant one first. In order:
/// - `[0, "statecast-journal", 1, store, lineage, begun]`;
/// - for each incarnation of the primary `[1, epoch, revision, fingerprint, time]`;
/// - `[2, sequence, revision, context, state]`, the snapshot at which the history begins;
/// - for each record `[3, sequence, from, to, body]`, and behind the record that it contains each later snapshot;
/// - `[4, count]`, how many items stand before it.
enum ArchiveItem: Hashable {
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
            for number in [1, start.epoch.rawValue, start.revision.rawValue, start.fingerprint] {
                writer.unsigned(number)
            }
            writer.integer(start.time.milliseconds)
        case .snapshot(let snapshot):
            writer.array(count: 5)
            for number in [2, snapshot.entry.sequence.rawValue, snapshot.entry.revision.rawValue] {
                writer.unsigned(number)
            }
            writer.bytes(snapshot.context)
            writer.bytes(snapshot.state)
        case .record(let record):
            writer.array(count: 5)
            for number in [3, record.sequence.rawValue, record.from.rawValue, record.to.rawValue] {
                writer.unsigned(number)
            }
            writer.bytes(record.body)
        case .end(let count):
            writer.array(count: 2)
            writer.unsigned(4)
            writer.unsigned(UInt64(count))
        }
        return writer.bytes
    }

    /// - Throws: ``CodingFailure`` that says what is wrong with it.
    init(decoding bytes: [UInt8]) throws(CodingFailure) {
        var reader = CBORReader(bytes)
        _ = try reader.arrayCount()
        switch try reader.unsigned() {
        case 0: self = .identity(try JournalIdentity(from: &reader))
        case 1:
            let numbers = (try reader.unsigned(), try reader.unsigned(), try reader.unsigned())
            let time = Timestamp(milliseconds: try reader.integer())
            let revision = Revision(numbers.1)
            self = .epoch(EpochStart(epoch: Epoch(numbers.0), revision: revision, fingerprint: numbers.2, time: time))
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

    /// - Throws: ``CodingFailure`` for the beginning of anything but an archive of this version.
    fileprivate static func checkHead(_ reader: inout CBORReader) throws(CodingFailure) {
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
