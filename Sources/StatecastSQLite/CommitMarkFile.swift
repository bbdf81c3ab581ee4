import StatecastFiles
import StatecastJournal
import StatecastProtocol

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The file "marks": a mapped page that notes the last acknowledged record, the last epoch and the action being
/// reduced.
///
/// A write costs a few stores to memory and survives the end of the process. The acknowledged record is written to two
/// slots in turn: if the system ends during one write, the other slot is valid. The page also names the store, so that
/// salvage can find the name if the database cannot be read.
///
/// Unchecked, but safe: after `open`, only the thread that appends writes acknowledgements, and ``CrashMarker`` has its
/// own part of the page and one user.
final class CommitMarkFile: @unchecked Sendable {
    private static let byteCount = 4096
    private static let magic: UInt64 = 0x3153_4B52_414D_4353  // "SCMARKS1"

    private enum Offset {
        static let magic = 0
        static let lineage = 8
        static let purpose = 16
        static let epoch = 24
        static let acknowledged = [64, 128]
        static let crashMarker = 2048
        /// The count of the name's bytes and their checksum, then the name.
        static let store = 1024
    }

    private let page: UnsafeMutableRawPointer
    private let file: OpenFile
    private let directory: JournalDirectory
    /// The slot of the next acknowledgement.
    private var slot = 0
    let crashMarker: CrashMarker

    /// Opens or creates the file, and locks it.
    convenience init(_ directory: JournalDirectory) throws(JournalFailure) {
        let file = try Self.openLocked(directory, O_RDWR | O_CREAT)
        let page: UnsafeMutableRawPointer
        do throws(SystemFailure) { page = try file.map(Self.byteCount, isWritable: true) } catch {
            throw directory.failed(error)
        }
        self.init(file, page, directory)
    }

    /// Opens the file of a journal that another process may be writing.
    convenience init(reading directory: JournalDirectory) throws(JournalFailure) {
        let file: OpenFile
        do throws(SystemFailure) { file = try OpenFile(directory.marks, O_RDONLY) } catch {
            throw error.code == ENOENT ? Self.missing(in: directory) : directory.failed(error)
        }
        guard let page = try? file.map(Self.byteCount, isWritable: false) else { throw Self.missing(in: directory) }
        self.init(file, page, directory)
    }

    private init(_ file: consuming OpenFile, _ page: UnsafeMutableRawPointer, _ directory: JournalDirectory) {
        self.file = file
        self.page = page
        self.directory = directory
        crashMarker = CrashMarker(page: page + Offset.crashMarker)
    }

    deinit { munmap(page, Self.byteCount) }

    /// Checks that no primary has the file open, without changing it: a page that is being written can look damaged.
    ///
    /// - Throws: ``JournalFailure`` with code `in-use`.
    static func checkUnused(in directory: JournalDirectory) throws(JournalFailure) {
        do throws(JournalFailure) { _ = try openLocked(directory, O_RDWR) } catch {
            // Opening the file for reading reports any other failure.
            guard error.code != .inUse else { throw error }
        }
    }

    /// The file is locked in addition to the file "lock", which may be removed while a primary has the journal.
    private static func openLocked(
        _ directory: JournalDirectory,
        _ flags: Int32
    ) throws(JournalFailure) -> OpenFile {
        do throws(SystemFailure) {
            let file = try OpenFile(directory.marks, flags)
            if try file.lock() { return file }
        } catch { throw directory.failed(error) }
        throw JournalFailure(
            .inUse,
            "the journal \(directory.path) is in use by another process, which has its file \"marks\" locked: stop "
                + "that process, or choose another directory"
        )
    }

    // MARK: Marks

    /// The use of a directory. No flipped bit turns the value of a copy into that of a journal.
    enum Purpose: UInt64 {
        /// No history has begun.
        case none = 0
        /// A primary may continue the history.
        case journal = 1
        /// A copy that is not complete.
        case unfinished = 0x474E_4959_504F_43  // "COPYING"
        /// A copy whose history another journal may continue: a primary must not.
        case backup = 0x5055_4B43_4142  // "BACKUP"
        /// The journal is copied to a database, where it may go on.
        case moving = 0x47_4E49_564F_4D  // "MOVING"
        /// The journal goes on in a database.
        case moved = 0x44_4556_4F4D  // "MOVED"
    }

    /// `nil` if the value is unknown.
    var purpose: Purpose? { Purpose(rawValue: self[Offset.purpose]) }

    var isBegun: Bool { purpose != Purpose.none }

    /// The last acknowledged record; `nil` if neither slot is valid.
    var acknowledged: SnapshotEntry? {
        Offset.acknowledged.compactMap { offset in
            let (sequence, revision) = (self[offset], self[offset + 8])
            guard self[offset + 16] == Self.checksum(sequence, revision) else { return nil }
            return SnapshotEntry(sequence: JournalSequence(sequence), revision: Revision(revision))
        }.max { $0.sequence < $1.sequence }
    }

    /// Prepares the page for a new history; ``begin(as:)`` completes it.
    func prepare(_ identity: JournalIdentity, at entry: SnapshotEntry) throws(JournalFailure) {
        self[Offset.magic] = Self.magic
        self[Offset.lineage] = identity.lineage.bits
        store = identity.store
        for _ in Offset.acknowledged { acknowledge(entry) }
        try claim(Epoch(0))
    }

    /// Marks the history as begun; durable on return.
    func begin(as purpose: Purpose = .journal) throws(JournalFailure) {
        self[Offset.purpose] = purpose.rawValue
        try flush()
    }

    /// Notes the epoch of an incarnation, so that no later one reuses it; durable on return.
    func claim(_ epoch: Epoch) throws(JournalFailure) {
        self[Offset.epoch] = epoch.rawValue
        self[Offset.epoch + 8] = Self.checksum(epoch.rawValue, 0)
        try flush()
    }

    func acknowledge(_ entry: SnapshotEntry) {
        let offset = Offset.acknowledged[slot]
        slot = 1 - slot
        self[offset] = entry.sequence.rawValue
        self[offset + 8] = entry.revision.rawValue
        self[offset + 16] = Self.checksum(entry.sequence.rawValue, entry.revision.rawValue)
    }

    /// The store's name; `nil` if it is damaged.
    private(set) var store: StoreName? {
        get {
            let count = self[Offset.store]
            guard (1...UInt64(StoreName.maxBytes)).contains(count) else { return nil }
            let name = Array(UnsafeRawBufferPointer(start: page + Offset.store + 16, count: Int(count)))
            guard self[Offset.store + 8] == UInt64(Checksum.of(name)) else { return nil }
            return try? StoreName(String(decoding: name, as: UTF8.self))
        }
        set {
            let name = Array((newValue?.text ?? "").utf8)
            self[Offset.store] = UInt64(name.count)
            self[Offset.store + 8] = UInt64(Checksum.of(name))
            (page + Offset.store + 16).copyMemory(from: name, byteCount: name.count)
        }
    }

    func belongs(to lineage: Lineage) -> Bool {
        self[Offset.magic] == Self.magic && self[Offset.lineage] == lineage.bits
    }

    /// - Returns: the last acknowledged record.
    /// - Throws: ``JournalFailure`` with code `damaged` if the page belongs to another history or names a later epoch.
    @discardableResult
    func check(_ contents: JournalContents) throws(JournalFailure) -> SnapshotEntry {
        let lineage = contents.identity.lineage
        guard self[Offset.magic] == Self.magic, purpose != nil else { throw Self.missing(in: directory) }
        guard self[Offset.lineage] == lineage.bits else {
            throw directory.damaged(
                "the file \"marks\" belongs to lineage \(Lineage(bits: self[Offset.lineage])), journal.sqlite to "
                    + "\(lineage)"
            )
        }
        guard let acknowledged, self[Offset.epoch + 8] == Self.checksum(self[Offset.epoch], 0) else {
            throw directory.damaged("the file \"marks\", which notes the last acknowledged record, cannot be read")
        }
        let last = contents.epochs.last?.epoch ?? Epoch(0)
        guard last.rawValue >= self[Offset.epoch] else {
            throw directory.damaged("journal.sqlite has epochs up to \(last), and \(self[Offset.epoch]) was claimed")
        }
        return acknowledged
    }

    /// - Throws: ``JournalFailure`` with code `misfit` if no primary may continue the history.
    func checkServable() throws(JournalFailure) {
        switch purpose {
        case .backup:
            throw JournalFailure(
                .misfit,
                "\(directory.path) is a backup, whose history another journal may continue: make a journal of it with "
                    + "statecast-journal restore \(directory.path) NEW-DIRECTORY"
            )
        case .moving:
            throw JournalFailure(
                .misfit,
                "\(directory.path) is being moved with statecast-journal move: repeat that command with the same "
                    + "arguments"
            )
        case .moved:
            throw JournalFailure(
                .misfit,
                "\(directory.path) was moved to a database with statecast-journal move, and its history goes on there: "
                    + "use that one, or move it back to another directory"
            )
        default: try checkFinished()
        }
    }

    /// - Throws: ``JournalFailure`` with code `misfit` for a copy that is not complete.
    func checkFinished() throws(JournalFailure) {
        guard purpose == .unfinished else { return }
        throw JournalFailure(
            .misfit,
            "\(directory.path) is an incomplete copy: remove it, and copy the journal again with statecast-journal"
        )
    }

    private static func missing(in directory: JournalDirectory) -> JournalFailure {
        directory.damaged("the file \"marks\", which notes the last acknowledged record, is missing or overwritten")
    }

    /// Waits until the page is durable: before, it survives the end of the process, but not of the system.
    func flush() throws(JournalFailure) {
        do throws(SystemFailure) { try file.sync() } catch { throw directory.failed(error) }
    }

    private static func checksum(_ sequence: UInt64, _ revision: UInt64) -> UInt64 {
        UInt64(Checksum.of([magic, sequence, revision]))
    }

    private subscript(offset: Int) -> UInt64 {
        get { page.load(fromByteOffset: offset, as: UInt64.self) }
        set { page.storeBytes(of: newValue, toByteOffset: offset, as: UInt64.self) }
    }
}
