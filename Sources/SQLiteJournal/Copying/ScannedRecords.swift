internal import Foundation
internal import Journal
internal import SyncProtocol

/// The records in the pages of a database and of its log, found without SQLite: by their form, and by their checksums.
///
/// SQLite reads a table from its root, and a log up to the first wrong frame. One wrong byte in the header of the database, in
/// a page that leads to others, or in the log takes all that comes after it. The records themselves are still there: each
/// one is a cell (<https://www.sqlite.org/fileformat2.html>, sections 1.6 and 2.1) that nothing else looks like.
final class ScannedRecords {
    /// Where a page begins.
    private struct Page {
        let isLog: Bool
        let offset: Int
    }

    /// Where a record is, and its checksum.
    private struct Location {
        let page: Page
        let start: Int
        let checksum: Int64
    }

    private let database: [UInt8]
    private let log: [UInt8]
    private let pageBytes: Int
    /// By number, those of the log first, the newest one before all.
    private var pages: [UInt32: [Page]] = [:]
    private var found: [JournalSequence: Location] = [:]
    /// Found with different contents: which one counts cannot be told.
    private var ambiguous: Set<JournalSequence> = []

    private static let logHeaderBytes = 32
    private static let frameHeaderBytes = 24
    /// How many versions of an overflow page are tried.
    private static let versionsMax = 4

    init(_ directory: JournalDirectory) {
        database = [UInt8]((try? Data(contentsOf: URL(filePath: directory.database))) ?? Data())
        log = [UInt8]((try? Data(contentsOf: URL(filePath: directory.log))) ?? Data())
        pageBytes = Self.pageBytes(database, log)
        listPages()
        for page in pages.values.joined() { scan(page) }
    }

    /// The undamaged record; `nil` if no copy of it is undamaged.
    func record(_ sequence: JournalSequence) -> JournalRecord? {
        guard !ambiguous.contains(sequence), let location = found[sequence] else { return nil }
        return record(in: location.page, at: location.start)
    }

    private static func pageBytes(_ database: [UInt8], _ log: [UInt8]) -> Int {
        let inDatabase = database.count >= 18 ? Int(database[16]) << 8 | Int(database[17]) : 0
        let inLog = log.count >= 12 ? Int(number(log, at: 8)) : 0
        let isSize = { (bytes: Int) in (512...65536).contains(bytes) && bytes & (bytes - 1) == 0 }
        // The database says 1 for 65,536.
        return [inDatabase == 1 ? 65536 : inDatabase, inLog].first(where: isSize) ?? 4096
    }

    private func listPages() {
        let frameBytes = Self.frameHeaderBytes + pageBytes
        for frame in stride(from: Self.logHeaderBytes, through: log.count - frameBytes, by: frameBytes).reversed() {
            let page = Page(isLog: true, offset: frame + Self.frameHeaderBytes)
            pages[Self.number(log, at: frame), default: []].append(page)
        }
        for (index, offset) in stride(from: 0, through: database.count - pageBytes, by: pageBytes).enumerated() {
            pages[UInt32(index + 1), default: []].append(Page(isLog: false, offset: offset))
        }
    }

    /// Looks for a cell at each byte: what a page says of its cells may be what is wrong with it.
    private func scan(_ page: Page) {
        for start in page.offset..<(page.offset + pageBytes) {
            guard let record = record(in: page, at: start) else { continue }
            let location = Location(page: page, start: start, checksum: record.checksum)
            let known = found.updateValue(location, forKey: record.sequence)
            if let known, known.checksum != location.checksum { ambiguous.insert(record.sequence) }
        }
    }

    private func record(in page: Page, at start: Int) -> JournalRecord? {
        let (bytes, pageEnd) = (page.isLog ? log : database, page.offset + pageBytes)
        guard let cell = Cell(bytes, at: start, through: pageEnd), cell.payloadBytes <= database.count + log.count
        else {
            return nil
        }
        let localBytes = Self.localBytes(ofPayload: cell.payloadBytes, pageBytes)
        let end = cell.payload + localBytes
        guard end <= pageEnd else { return nil }
        guard localBytes < cell.payloadBytes else { return cell.record(of: bytes[cell.payload..<end]) }
        guard end + 4 <= pageEnd else { return nil }
        let next = Self.number(bytes, at: end)
        for version in 0..<Self.versionsMax {
            guard let rest = overflow(from: next, cell.payloadBytes - localBytes, version) else { continue }
            if let record = cell.record(of: bytes[cell.payload..<end] + rest) { return record }
        }
        return nil
    }

    /// - Parameter version: which of a page's versions is read, 0 for the newest; the oldest where there are fewer.
    private func overflow(from first: UInt32, _ count: Int, _ version: Int) -> [UInt8]? {
        var (rest, next) = ([] as [UInt8], first)
        while rest.count < count {
            guard let versions = pages[next] else { return nil }
            let page = versions[min(version, versions.count - 1)]
            let bytes = page.isLog ? log : database
            next = Self.number(bytes, at: page.offset)
            rest += bytes[(page.offset + 4)..<(page.offset + pageBytes)].prefix(count - rest.count)
        }
        return rest
    }

    /// How much of a payload is in the cell itself: section 1.6.
    private static func localBytes(ofPayload count: Int, _ pageBytes: Int) -> Int {
        let most = pageBytes - 35
        guard count > most else { return count }
        let least = (pageBytes - 12) * 32 / 255 - 23
        let fitting = least + (count - least) % (pageBytes - 4)
        return fitting <= most ? fitting : least
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// A cell that has the form of a record's row: no value for the key, three integers, and a blob.
private struct Cell {
    let sequence: UInt64
    /// Where the payload begins.
    let payload: Int
    let payloadBytes: Int
    private let headerBytes: Int
    /// Of start, end and checksum.
    private let types: [UInt64]

    init?(_ bytes: [UInt8], at start: Int, through end: Int) {
        var offset = start
        guard let payloadBytes = Self.varint(bytes, &offset, end), payloadBytes > 5, payloadBytes < 1 << 32,
            let sequence = Self.varint(bytes, &offset, end)
        else { return nil }
        payload = offset
        guard let headerBytes = Self.varint(bytes, &offset, end), (6...15).contains(headerBytes),
            Self.varint(bytes, &offset, end) == 0
        else { return nil }
        var types: [UInt64] = []
        for _ in 0..<3 {
            guard let type = Self.varint(bytes, &offset, end), (1...9).contains(type), type != 7 else { return nil }
            types.append(type)
        }
        guard let blob = Self.varint(bytes, &offset, end), blob >= 12, blob % 2 == 0,
            offset - payload == Int(headerBytes),
            headerBytes + UInt64(types.reduce(0) { $0 + Self.byteCount($1) }) + (blob - 12) / 2 == payloadBytes
        else { return nil }
        self.sequence = sequence
        self.payloadBytes = Int(payloadBytes)
        self.headerBytes = Int(headerBytes)
        self.types = types
    }

    /// - Returns: `nil` if its checksum is wrong.
    func record(of payload: ArraySlice<UInt8>) -> JournalRecord? {
        var rest = payload.dropFirst(headerBytes)
        let numbers = types.map { type in
            switch type {
            case 8, 9: return type - 8
            default:
                let bytes = rest.prefix(Self.byteCount(type))
                rest = rest.dropFirst(bytes.count)
                let start: UInt64 = bytes.first.map { $0 >= 0x80 ? .max : 0 } ?? 0
                return bytes.reduce(start) { $0 << 8 | UInt64($1) }
            }
        }
        let record = JournalRecord(
            sequence: JournalSequence(sequence),
            from: Revision(numbers[0]),
            to: Revision(numbers[1]),
            body: Array(rest)
        )
        return Int64(bitPattern: numbers[2]) == record.checksum ? record : nil
    }

    private static func byteCount(_ type: UInt64) -> Int {
        switch type {
        case 1...4: Int(type)
        case 5: 6
        case 6: 8
        default: 0
        }
    }

    /// Section 1.6: seven bits in each byte, the most significant first; all eight of the ninth.
    private static func varint(_ bytes: [UInt8], _ offset: inout Int, _ end: Int) -> UInt64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard offset < end else { return nil }
            let byte = bytes[offset]
            offset += 1
            if index == 8 { return value << 8 | UInt64(byte) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { return value }
        }
        return nil
    }
}
