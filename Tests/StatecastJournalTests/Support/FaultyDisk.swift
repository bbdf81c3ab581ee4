import CStatecastSQLite
import Foundation
import StatecastThreading

/// The files of a folder by their relative paths, without those that a start ignores.
typealias FolderImage = [String: Data]

/// The writes of SQLite to the files in one folder: some fail, and a power cut loses those that were not synced.
///
/// A VFS that forwards everything to SQLite's own. It is the default one of this process, and does nothing for the
/// files of other folders.
///
/// It does not see the syncs that the journal itself makes. This loses more at a power cut than a real disk does at
/// `normal`.
final class FaultyDisk: Sendable {
    /// A change of a file that a power cut may lose.
    fileprivate enum Change {
        case write(offset: Int, Data)
        case truncate(Int)
    }

    fileprivate struct File {
        /// What a power cut leaves in any case.
        var synced = Data()
        var changes: [Change] = []
    }

    private struct Storage {
        /// By file name.
        var files: [String: File] = [:]
        /// The bytes that can still be written; `nil` without a bound.
        var room: Int?
        /// The number of changes before the one that fails; `nil` if none fails.
        var changesBeforeFailure: Int?
        /// The number of changes before the moment that is kept.
        var changesBeforeMoment: Int?
        var moment: Moment?
        var onMoment: (@Sendable () -> Void)?
    }

    /// What is on the disk at one moment.
    struct Moment: Sendable {
        /// What the next process finds.
        let written: FolderImage
        fileprivate let files: [String: File]

        /// What is left after a power cut. SQLite relies on it that a write changes no other bytes, and each sector of
        /// a write that was not synced may be lost.
        func afterPowerCut(using random: inout SplitMix64) -> FolderImage {
            var image = written
            for (name, file) in files.sorted(by: { $0.key < $1.key }) {
                var content = file.synced
                for change in file.changes where !random.oneIn(3) { change.apply(to: &content, using: &random) }
                // Removing the log is the last change of a stop. Other removals are durable when the log is synced.
                if written[name] != nil || name.hasSuffix("-wal") && random.oneIn(2) { image[name] = content }
            }
            return image
        }
    }

    private let folder: String
    private let storage = Locked(Storage())

    /// - Parameter folder: its last component must be unique in this process.
    init(_ folder: String) {
        self.folder = folder
        FaultyFiles.disks.withLock { $0[URL(filePath: folder).lastPathComponent] = self }
    }

    /// Later writes to the folder succeed, and are not noted.
    func remove() {
        _ = FaultyFiles.disks.withLock { $0.removeValue(forKey: URL(filePath: folder).lastPathComponent) }
    }

    // MARK: Faults

    /// The bytes that can still be written; `nil` without a bound. Further writes fail, the first one in its middle.
    var room: Int? {
        get { storage.withLock { $0.room } }
        set { storage.withLock { $0.room = newValue } }
    }

    /// Lets a later change of a file fail in its middle, and all after it.
    func fail(after changes: Int) { storage.withLock { $0.changesBeforeFailure = changes } }

    /// Keeps the moment after a later change of a file, or after its sync.
    ///
    /// - Parameter onMoment: called then, on the thread of SQLite.
    func keepMoment(after changes: Int, _ onMoment: @escaping @Sendable () -> Void = {}) {
        storage.withLock { ($0.changesBeforeMoment, $0.onMoment) = (changes, onMoment) }
    }

    /// The moment that was kept.
    func takeMoment() -> Moment? {
        storage.withLock { storage in
            storage.changesBeforeMoment = nil
            return storage.moment.take()
        }
    }

    /// The present moment.
    func now() -> Moment { storage.withLock { Moment(written: Self.image(of: folder), files: $0.files) } }

    static func image(of folder: String) -> FolderImage {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        let lasting = names.filter { !$0.hasSuffix("-shm") && $0 != "lock" && $0 != "snapshots" }
        return Dictionary(
            uniqueKeysWithValues: lasting.compactMap { name in
                (try? Data(contentsOf: URL(filePath: "\(folder)/\(name)"))).map { (name, $0) }
            }
        )
    }

    /// Writes the log into the database, as a primary does in the background when the log is large.
    func checkpoint(isTruncating: Bool) {
        var database: OpaquePointer?
        sqlite3_open(folder + "/journal.sqlite", &database)
        sqlite3_exec(database, "PRAGMA wal_checkpoint(\(isTruncating ? "TRUNCATE" : "PASSIVE"))", nil, nil, nil)
        sqlite3_close(database)
    }

    // MARK: Files

    fileprivate func opened(_ name: String) {
        let content = (try? Data(contentsOf: URL(filePath: "\(folder)/\(name)"))) ?? Data()
        storage.withLock { storage in
            if storage.files[name] == nil || content.isEmpty { storage.files[name] = File(synced: content) }
        }
    }

    /// - Returns: the number of bytes to write, and the error that follows.
    fileprivate func write(_ bytes: UnsafeRawBufferPointer, to name: String, at offset: Int) -> (Int, Int32) {
        storage.withLock { storage in
            var (count, result) = (bytes.count, SQLITE_OK)
            if isFailing(&storage) { (count, result) = (count / 2, FaultyFiles.writeFailed) }
            if let room = storage.room {
                if count > room { (count, result) = (room, SQLITE_FULL) }
                storage.room = room - count
            }
            storage.files[name]?.changes.append(.write(offset: offset, Data(bytes.prefix(count))))
            return (count, result)
        }
    }

    fileprivate func truncate(_ name: String, to count: Int) -> Int32 {
        storage.withLock { storage in
            if isFailing(&storage) { return FaultyFiles.writeFailed }
            storage.files[name]?.changes.append(.truncate(count))
            return SQLITE_OK
        }
    }

    fileprivate func sync(_ name: String) -> Int32 {
        storage.withLock { storage in
            if isFailing(&storage) { return FaultyFiles.syncFailed }
            guard var file = storage.files.removeValue(forKey: name) else { return SQLITE_OK }
            for change in file.changes { change.apply(to: &file.synced) }
            file.changes = []
            storage.files[name] = file
            return SQLITE_OK
        }
    }

    /// A file was changed or synced.
    fileprivate func changed() {
        let onMoment = storage.withLock { storage -> (@Sendable () -> Void)? in
            guard let left = storage.changesBeforeMoment else { return nil }
            storage.changesBeforeMoment = left > 0 ? left - 1 : nil
            guard left == 0 else { return nil }
            storage.moment = Moment(written: Self.image(of: folder), files: storage.files)
            return storage.onMoment.take()
        }
        onMoment?()
    }

    private func isFailing(_ storage: inout Storage) -> Bool {
        guard let left = storage.changesBeforeFailure else { return false }
        if left > 0 { storage.changesBeforeFailure = left - 1 }
        return left == 0
    }
}

extension FaultyDisk.Change {
    private static let sectorBytes = 512

    fileprivate func apply(to content: inout Data) {
        switch self {
        case .truncate(let count): content = content.prefix(count)
        case .write(let offset, let bytes):
            let end = offset + bytes.count
            if content.count < end { content.append(Data(count: end - content.count)) }
            content.replaceSubrange(offset..<end, with: bytes)
        }
    }

    /// Applies a write, or some of its sectors.
    fileprivate func apply(to content: inout Data, using random: inout SplitMix64) {
        guard case .write(let offset, let bytes) = self, random.oneIn(3) else { return apply(to: &content) }
        for start in stride(from: 0, to: bytes.count, by: Self.sectorBytes) where random.oneIn(2) {
            let sector = Data(bytes[start..<min(start + Self.sectorBytes, bytes.count)])
            Self.write(offset: offset + start, sector).apply(to: &content)
        }
    }
}

// MARK: VFS

/// The VFS of this process. It replaces four methods of the files in the folders of a ``FaultyDisk``.
private enum FaultyFiles {
    /// Methods exist as long as the process.
    struct Methods: Hashable, @unchecked Sendable {
        let pointer: UnsafePointer<sqlite3_io_methods>
    }

    typealias FilePointer = UnsafeMutablePointer<sqlite3_file>

    // The macros have casts, which Swift does not import.
    static let writeFailed = SQLITE_IOERR | (3 << 8)
    static let syncFailed = SQLITE_IOERR | (4 << 8)

    /// By the name of the folder.
    static let disks: Locked<[String: FaultyDisk]> = {
        install()
        return Locked([:])
    }()

    private struct Opened {
        let disk: FaultyDisk
        let name: String
        /// SQLite's own methods of the file.
        let own: Methods
    }

    private static let openFiles = Locked<[UInt: Opened]>([:])

    /// SQLite's own VFS, which exists as long as the process.
    nonisolated(unsafe) private static let own = sqlite3_vfs_find(nil)
    /// The replaced methods by SQLite's own ones, which differ between a database and its log.
    private static let replacements = Locked<[Methods: Methods]>([:])

    private static func install() {
        guard let own else { preconditionFailure("SQLite has no VFS") }
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        vfs.initialize(to: own.pointee)
        vfs.pointee.zName = UnsafePointer(strdup("statecast-faulty"))
        vfs.pointee.xOpen = { _, path, file, flags, flagsOut in
            guard let own = FaultyFiles.own else { return SQLITE_CANTOPEN }
            let result = own.pointee.xOpen(own, path, file, flags, flagsOut)
            if result == SQLITE_OK, let path, let file { FaultyFiles.note(file, String(cString: path)) }
            return result
        }
        sqlite3_vfs_register(vfs, 1)
    }

    private static func note(_ file: FilePointer, _ path: String) {
        let url = URL(filePath: path)
        let folder = url.deletingLastPathComponent().lastPathComponent
        guard let disk = disks.withLock({ $0[folder] }) else { return }
        guard let own = file.pointee.pMethods.map(Methods.init) else { return }
        file.pointee.pMethods = replacement(of: own).pointer
        let name = url.lastPathComponent
        openFiles.withLock { $0[UInt(bitPattern: file)] = Opened(disk: disk, name: name, own: own) }
        disk.opened(name)
    }

    private static func replacement(of own: Methods) -> Methods {
        replacements.withLock { replacements in
            if let known = replacements[own] { return known }
            let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            methods.initialize(to: replaced(own.pointer.pointee))
            replacements[own] = Methods(pointer: methods)
            return Methods(pointer: methods)
        }
    }

    private static func replaced(_ own: sqlite3_io_methods) -> sqlite3_io_methods {
        var methods = own
        methods.xWrite = { file, bytes, count, offset in
            guard let file, let bytes, let opened = FaultyFiles.opened(file) else { return SQLITE_MISUSE }
            let buffer = UnsafeRawBufferPointer(start: bytes, count: Int(count))
            let (written, result) = opened.disk.write(buffer, to: opened.name, at: Int(offset))
            defer { opened.disk.changed() }
            let own = opened.own.pointer.pointee
            let ownResult = written > 0 ? own.xWrite(file, bytes, Int32(written), offset) : SQLITE_OK
            return result == SQLITE_OK ? ownResult : result
        }
        methods.xTruncate = { file, count in
            guard let file, let opened = FaultyFiles.opened(file) else { return SQLITE_MISUSE }
            defer { opened.disk.changed() }
            let result = opened.disk.truncate(opened.name, to: Int(count))
            return result == SQLITE_OK ? opened.own.pointer.pointee.xTruncate(file, count) : result
        }
        methods.xSync = { file, flags in
            guard let file, let opened = FaultyFiles.opened(file) else { return SQLITE_MISUSE }
            defer { opened.disk.changed() }
            let result = opened.disk.sync(opened.name)
            return result == SQLITE_OK ? opened.own.pointer.pointee.xSync(file, flags) : result
        }
        methods.xClose = { file in
            guard let file,
                let opened = FaultyFiles.openFiles.withLock({ $0.removeValue(forKey: UInt(bitPattern: file)) })
            else { return SQLITE_MISUSE }
            return opened.own.pointer.pointee.xClose(file)
        }
        return methods
    }

    private static func opened(_ file: FilePointer) -> Opened? {
        openFiles.withLock { $0[UInt(bitPattern: file)] }
    }
}
