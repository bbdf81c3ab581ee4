internal import Foundation
internal import Journal
internal import SyncProtocol

/// A page of a file, mapped: what is written here costs a few stores and survives the process, whatever ends it.
///
/// It says what was acknowledged last, in two places that are written in turn: should the system end in the middle of one,
/// the other one holds. It also names the store, so that salvage knows it where the database cannot be read.
///
/// Unchecked, but safe: after `open` the acknowledgement is written by the one thread that appends, and the notes have one
/// user of their own.
final class MarkPage: @unchecked Sendable {
    private static let byteCount = 4096
    private static let magic: UInt64 = 0x3153_4B52_414D_4353  // "SCMARKS1"

    private enum Offset {
        static let magic = 0
        static let lineage = 8
        static let purpose = 16
        static let epoch = 24
        static let marks = [64, 128]
        static let reductions = 256
        /// The count of the name's bytes and their checksum, then the name.
        static let store = 1024
    }

    private let page: UnsafeMutableRawPointer
    private let descriptor: Int32
    private let directory: JournalDirectory
    private var turn = 0
    let reductions: ReductionNotes

    init(_ directory: JournalDirectory) throws(JournalFailure) {
        let descriptor = Foundation.open(directory.marks, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw directory.failed("cannot open \(directory.marks)", errno) }
        try Self.lock(descriptor, directory)
        // Room on the disk, not only in the file: a mapped page that has none ends the process when it is touched.
        let code = Self.reserve(descriptor)
        guard code == 0 else {
            Foundation.close(descriptor)
            throw directory.failed("cannot make room for \(directory.marks)", code)
        }
        guard let page = mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            page != MAP_FAILED
        else {
            let code = errno
            Foundation.close(descriptor)
            throw directory.failed("cannot map \(directory.marks)", code)
        }
        self.page = page
        self.descriptor = descriptor
        self.directory = directory
        reductions = ReductionNotes(page: page + Offset.reductions)
    }

    /// Checks that no primary has the page, if there is one, and changes nothing: what a primary still writes must not be
    /// taken for damage.
    ///
    /// - Throws: ``JournalFailure`` with code `in-use`.
    static func checkUnused(in directory: JournalDirectory) throws(JournalFailure) {
        let descriptor = Foundation.open(directory.marks, O_RDWR | O_CLOEXEC)
        // Whatever else is wrong with it, reading it says so.
        guard descriptor >= 0 else { return }
        try lock(descriptor, directory)
        flock(descriptor, LOCK_UN)
        Foundation.close(descriptor)
    }

    /// Locks the page, or closes the file. The file "lock" may have been removed while another primary has the journal. The
    /// file "marks" is locked, too.
    private static func lock(_ descriptor: Int32, _ directory: JournalDirectory) throws(JournalFailure) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return }
        let code = errno
        Foundation.close(descriptor)
        guard code == EWOULDBLOCK else { throw directory.failed("cannot lock \(directory.marks)", code) }
        throw JournalFailure(
            .inUse,
            "the journal \(directory.path) is in use by another process, which has its file \"marks\" locked: stop that, "
                + "or choose another directory"
        )
    }

    /// Looks at the page of a journal that somebody else may be writing.
    init(reading directory: JournalDirectory) throws(JournalFailure) {
        let descriptor = Foundation.open(directory.marks, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw errno == ENOENT
                ? Self.missing(in: directory) : directory.failed("cannot open \(directory.marks)", errno)
        }
        var status = stat()
        // What lies beyond the end of the file must not be touched.
        guard fstat(descriptor, &status) == 0, status.st_size >= Self.byteCount,
            let page = mmap(nil, Self.byteCount, PROT_READ, MAP_SHARED, descriptor, 0), page != MAP_FAILED
        else {
            Foundation.close(descriptor)
            throw Self.missing(in: directory)
        }
        self.page = page
        self.descriptor = descriptor
        self.directory = directory
        reductions = ReductionNotes(page: page + Offset.reductions)
    }

    deinit {
        munmap(page, Self.byteCount)
        // Not left to the closing: see DirectoryLock.
        flock(descriptor, LOCK_UN)
        Foundation.close(descriptor)
    }

    private static func reserve(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
            return ftruncate(descriptor, off_t(byteCount)) == 0 ? 0 : errno
        #else
            return posix_fallocate(descriptor, 0, off_t(byteCount))
        #endif
    }

    // MARK: What was acknowledged

    /// The last record that was acknowledged.
    struct Mark: Hashable, Sendable {
        let sequence: JournalSequence
        let revision: Revision
    }

    /// What a directory is for. A copy's is far from the others', so that it is not taken for a journal where a bit was flipped.
    enum Purpose: UInt64 {
        /// Nothing was begun here.
        case none = 0
        /// A primary may go on with it.
        case journal = 1
        /// It is being copied from elsewhere, or was until that was interrupted.
        case unfinished = 0x474E_4959_504F_43  // "COPYING"
        /// Another directory has the history and may go on with it: this one must not.
        case backup = 0x5055_4B43_4142  // "BACKUP"
    }

    /// `nil` if it cannot be read.
    var purpose: Purpose? { Purpose(rawValue: self[Offset.purpose]) }

    /// Whether a history was begun here.
    var isBegun: Bool { purpose != Purpose.none }

    /// `nil` if neither place can be read.
    var acknowledged: Mark? {
        Offset.marks.compactMap(mark).max { $0.sequence < $1.sequence }
    }

    /// A history is about to begin.
    func prepare(_ identity: JournalIdentity, at entry: SnapshotEntry) throws(JournalFailure) {
        self[Offset.magic] = Self.magic
        self[Offset.lineage] = identity.lineage.bits
        store = identity.store
        for _ in Offset.marks { acknowledge(entry.sequence, entry.revision) }
        try claim(Epoch(0))
    }

    /// It has begun.
    func begin(as purpose: Purpose = .journal) throws(JournalFailure) {
        self[Offset.purpose] = purpose.rawValue
        try flush()
    }

    /// An incarnation begins: no later one may take its number for its own.
    func claim(_ epoch: Epoch) throws(JournalFailure) {
        self[Offset.epoch] = epoch.rawValue
        self[Offset.epoch + 8] = Self.checksum(epoch.rawValue, 0)
        try flush()
    }

    func acknowledge(_ sequence: JournalSequence, _ revision: Revision) {
        let offset = Offset.marks[turn]
        turn = 1 - turn
        self[offset] = sequence.rawValue
        self[offset + 8] = revision.rawValue
        self[offset + 16] = Self.checksum(sequence.rawValue, revision.rawValue)
    }

    /// Whose history it is; `nil` if that cannot be read, and on a page of the first version, which does not say it.
    private(set) var store: StoreName? {
        get {
            let count = self[Offset.store]
            guard (1...UInt64(StoreName.bytesMax)).contains(count) else { return nil }
            let name = UnsafeRawBufferPointer(start: page + Offset.store + 16, count: Int(count))
            guard self[Offset.store + 8] == Self.checksum(name) else { return nil }
            return try? StoreName(String(decoding: name, as: UTF8.self))
        }
        set {
            let name = Array((newValue?.text ?? "").utf8)
            self[Offset.store] = UInt64(name.count)
            self[Offset.store + 8] = Self.checksum(name)
            (page + Offset.store + 16).copyMemory(from: name, byteCount: name.count)
        }
    }

    /// Whether the page is the one of a history.
    func belongs(to lineage: Lineage) -> Bool {
        self[Offset.magic] == Self.magic && self[Offset.lineage] == lineage.bits
    }

    /// - Returns: what was acknowledged last.
    /// - Throws: ``JournalFailure`` with code `damaged` if the page is not the one of this history.
    @discardableResult
    func check(_ contents: JournalContents, in directory: JournalDirectory) throws(JournalFailure) -> Mark {
        let lineage = contents.identity.lineage
        guard self[Offset.magic] == Self.magic, purpose != nil else { throw Self.missing(in: directory) }
        guard self[Offset.lineage] == lineage.bits else {
            throw directory.damaged(
                "the file \"marks\" belongs to lineage \(Lineage(bits: self[Offset.lineage])), journal.sqlite to \(lineage)"
            )
        }
        guard let acknowledged, self[Offset.epoch + 8] == Self.checksum(self[Offset.epoch], 0) else {
            throw directory.damaged("the file \"marks\", which says what was acknowledged, cannot be read")
        }
        let last = contents.epochs.last?.epoch ?? Epoch(0)
        guard last.rawValue >= self[Offset.epoch] else {
            throw directory.damaged("journal.sqlite knows epochs up to \(last), and \(self[Offset.epoch]) was claimed")
        }
        return acknowledged
    }

    /// - Throws: ``JournalFailure`` with code `misfit` if no primary may go on with it.
    func checkServable(in directory: JournalDirectory) throws(JournalFailure) {
        switch purpose {
        case .backup:
            throw JournalFailure(
                .misfit,
                "\(directory.path) is a backup, whose history another journal may go on with: make a journal of it with "
                    + "statecast-journal restore \(directory.path) NEW-DIRECTORY"
            )
        case .unfinished: throw Self.unfinished(directory)
        default: break
        }
    }

    /// What to say of a copy that was interrupted.
    static func unfinished(_ directory: JournalDirectory) -> JournalFailure {
        JournalFailure(
            .misfit,
            "\(directory.path) was not copied to its end: remove it, and copy it anew with statecast-journal"
        )
    }

    private static func missing(in directory: JournalDirectory) -> JournalFailure {
        directory.damaged("the file \"marks\", which says what was acknowledged, is missing or overwritten")
    }

    /// Waits until the disk has the page: until then it survives the process, but not the system.
    func flush() throws(JournalFailure) {
        guard syncFile(descriptor) == 0 else { throw directory.failed("cannot write \(directory.marks)", errno) }
    }

    private func mark(at offset: Int) -> Mark? {
        let (sequence, revision) = (self[offset], self[offset + 8])
        guard self[offset + 16] == Self.checksum(sequence, revision) else { return nil }
        return Mark(sequence: JournalSequence(sequence), revision: Revision(revision))
    }

    private static func checksum(_ sequence: UInt64, _ revision: UInt64) -> UInt64 {
        var checksum = Checksum()
        checksum.combine(magic)
        checksum.combine(sequence)
        checksum.combine(revision)
        return UInt64(checksum.value)
    }

    private static func checksum(_ bytes: some Collection<UInt8>) -> UInt64 {
        var checksum = Checksum()
        checksum.combine(bytes)
        return UInt64(checksum.value)
    }

    private subscript(offset: Int) -> UInt64 {
        get { page.load(fromByteOffset: offset, as: UInt64.self) }
        set { page.storeBytes(of: newValue, toByteOffset: offset, as: UInt64.self) }
    }
}
