import CStatecastSQLite
import StatecastCore
import StatecastFiles
import StatecastJournal
import StatecastProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The directory of a journal: the paths of its files, and the failures that name it.
struct JournalDirectory: Hashable, Sendable {
    let path: String

    /// SQLite takes a path that begins with `file:` for a URI, so none of the paths here begins with it.
    init(path: String) { self.path = path.hasPrefix("file:") ? "./" + path : path }

    var database: String { path + "/journal.sqlite" }
    var log: String { database + "-wal" }
    var marks: String { path + "/marks" }
    var lock: String { path + "/lock" }
    /// Written when a backup has been made; its time is that of the backup.
    var backupNote: String { path + "/backed-up" }
    var snapshotFolder: String { path + "/snapshots" }

    var hasDatabase: Bool { FileManager.default.fileExists(atPath: database) }

    /// The size of SQLite's log; 0 if there is no log.
    var logBytes: Int { Self.byteCount(log) }

    /// The size of a file; 0 if there is no such file.
    static func byteCount(_ file: String) -> Int {
        var status = stat()
        return stat(file, &status) == 0 ? Int(status.st_size) : 0
    }

    /// The size of all files.
    var bytes: Int {
        [path, snapshotFolder].reduce(0) { bytes, folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.reduce(bytes) { $0 + Self.byteCount("\(folder)/\($1)") }
        }
    }

    /// When a file was last written; `nil` if there is no such file.
    static func time(_ file: String) -> Timestamp? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        let date = attributes?[.modificationDate] as? Date
        return date.map { Timestamp(milliseconds: Int64($0.timeIntervalSince1970 * 1000)) }
    }

    /// The snapshots in the directory, oldest first. Files with other names are ignored.
    func snapshots() throws(JournalFailure) -> [SnapshotEntry] {
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: snapshotFolder)
            return Set(names.compactMap(SnapshotFile.entry(ofName:))).sorted { $0.sequence < $1.sequence }
        } catch {
            let code = ((error as? CocoaError)?.underlying as? POSIXError)?.code
            if code == .ENOENT { throw damaged("the folder \"snapshots\" is missing") }
            throw failed("cannot list \(snapshotFolder)", code?.rawValue ?? EIO)
        }
    }

    // MARK: Checks

    /// Whether the files hold no history. The commit mark file is not considered.
    var isUnbegun: Bool {
        guard logBytes == 0 else { return false }
        // SQLite has a rollback journal only while it creates the database.
        if Self.byteCount(database + "-journal") > 0 { return true }
        guard Self.byteCount(database) == 0 else { return false }
        return (try? snapshots().isEmpty) ?? true
    }

    /// Checks the files before SQLite opens them: even for reading, it removes the log of a missing or empty database.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged`.
    func checkFiles() throws(JournalFailure) {
        guard hasDatabase else { throw damaged("journal.sqlite is missing") }
        guard Self.byteCount(database) > 0 || logBytes == 0 else {
            throw damaged("journal.sqlite is empty, and its log journal.sqlite-wal is not")
        }
    }

    /// Checks that SQLite can read the database: it needs a shared-memory file beside it, even for reading.
    func requireReadable() throws(JournalFailure) {
        guard hasDatabase, access(database + "-shm", F_OK) != 0, access(path, W_OK) != 0 else { return }
        throw JournalFailure(
            .inputOutput,
            "the journal \(path) cannot be read in a read-only directory, as SQLite must create journal.sqlite-shm: "
                + "copy the directory to a place that is writable"
        )
    }

    /// Refuses an empty name, which would make the path the root directory.
    func requireName() throws(JournalFailure) {
        guard path.isEmpty else { return }
        throw JournalFailure(.inputOutput, "the name of the journal's directory is empty: name a directory")
    }

    func requireEmpty(besidesLock isLocked: Bool = false) throws(JournalFailure) {
        try requireName()
        guard FileManager.default.fileExists(atPath: path) else { return }
        let own = isLocked ? [lock] : []
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path),
            names.allSatisfy({ own.contains("\(path)/\($0)") })
        else {
            throw JournalFailure(
                .inputOutput,
                "\(path) exists and is not empty: name a directory that does not exist"
            )
        }
    }

    // MARK: Changes

    /// Creates the directory, accessible to its user only.
    func make() throws(JournalFailure) {
        try requireName()
        try make(path)
    }

    func makeSnapshotFolder() throws(JournalFailure) { try make(snapshotFolder) }

    private func make(_ folder: String) throws(JournalFailure) {
        if mkdir(folder, 0o700) == 0 { return }
        if errno == ENOENT, let end = folder.lastIndex(of: "/"), end != folder.startIndex {
            try make(String(folder[..<end]))
            if mkdir(folder, 0o700) == 0 { return }
        }
        let code = errno
        var status = stat()
        if stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
        guard code == ENOTDIR || code == EEXIST else {
            throw failed("cannot create the journal's directory \(path)", code)
        }
        throw JournalFailure(
            .inputOutput,
            "cannot create the journal's directory \(path): \(folder) is a file, or is below one: name another "
                + "directory"
        )
    }

    /// Creates the file of the database, accessible to its user only; SQLite gives its other files the same mode.
    func makeDatabase() throws(JournalFailure) {
        // Closing an existing database would release the locks that SQLite holds in this process.
        guard !hasDatabase else { return }
        do throws(SystemFailure) { _ = try OpenFile(database, O_RDWR | O_CREAT) } catch { throw failed(error) }
    }

    /// Removes the files of a journal, and the directory if it is empty then.
    func removeJournal() {
        for file in [database, log, database + "-shm", database + "-journal", marks, lock, snapshotFolder] {
            try? FileManager.default.removeItem(atPath: file)
        }
        rmdir(path)
    }

    /// Waits until SQLite's log is durable.
    func syncLog() throws(JournalFailure) {
        if let failure = try tryToSyncLog() { throw failed(failure) }
    }

    /// Waits until SQLite's log is durable.
    ///
    /// - Returns: why the process cannot open a file now, which a later attempt may; `nil` if the log is durable.
    /// - Throws: ``JournalFailure`` with code `inputOutput`: the content of a disk that failed is unknown, also of one
    ///   that was full.
    func tryToSyncLog() throws(JournalFailure) -> SystemFailure? {
        do throws(SystemFailure) {
            let file = try OpenFile(log, O_RDONLY)
            do throws(SystemFailure) { try file.sync() } catch {
                throw SystemFailure("sync (\(error.reason))", log, EIO)
            }
            return nil
        } catch {
            // Without a log, everything is in the database.
            if error.code == ENOENT { return nil }
            if [EMFILE, ENFILE, ENOMEM].contains(error.code) { return error }
            throw failed(error)
        }
    }

    /// Waits until the names of the files in a folder are durable.
    func sync(_ folder: String) throws(JournalFailure) {
        do throws(SystemFailure) { try OpenFile.syncFolder(folder) } catch { throw failed(error) }
    }

    // MARK: Failures

    /// No database was found: there is no journal, or this user may not read the directory.
    var absent: JournalFailure {
        var status = stat()
        if stat(database, &status) != 0, errno != ENOENT, errno != ENOTDIR {
            return failed("cannot read the journal \(path)", errno)
        }
        return JournalFailure(.inputOutput, "there is no journal in \(path): it has no journal.sqlite")
    }

    /// The journal does not hold everything that it acknowledged.
    func damaged(_ what: String) -> JournalFailure {
        JournalFailure(
            .damaged,
            "the journal \(path) is damaged: \(what). Nothing was changed. Restore a backup, or continue from the last "
                + "state that can be read, under a new lineage, with: statecast-journal salvage \(path) NEW-DIRECTORY",
            reason: what
        )
    }

    func lacks(_ acknowledged: SnapshotEntry, end: SnapshotEntry) -> JournalFailure {
        damaged(
            "it ends at revision \(end.revision) (record \(end.sequence)), before the record that was acknowledged at "
                + "revision \(acknowledged.revision) (record \(acknowledged.sequence))"
        )
    }

    var newerFormat: JournalFailure {
        JournalFailure(
            .newerFormat,
            "the journal \(path) was written by a later version of statecast: use that one or a later one"
        )
    }

    func failed(_ what: String, _ code: Int32) -> JournalFailure {
        // A full disk, a quota or a limit on the size of files.
        let isLackOfRoom = [ENOSPC, EDQUOT, EFBIG].contains(code)
        return JournalFailure(isLackOfRoom ? .storageFull : .inputOutput, "\(what): \(String(cString: strerror(code)))")
    }

    func failed(_ failure: SystemFailure) -> JournalFailure {
        failed("cannot \(failure.action) \(failure.path)", failure.code)
    }

    /// Translates an error of SQLite.
    func failure(_ error: any Error) -> JournalFailure {
        switch error {
        case let failure as JournalFailure: failure
        case let failure as SQLiteFailure: self.failure(failure)
        default: JournalFailure(.inputOutput, "the journal \(path): \(error)")
        }
    }

    private func failure(_ failure: SQLiteFailure) -> JournalFailure {
        switch failure.primaryCode {
        case SQLITE_FULL:
            JournalFailure(.storageFull, "there is no room for the journal \(path): \(failure.message)")
        case SQLITE_CORRUPT, SQLITE_NOTADB: damaged("SQLite cannot read journal.sqlite: \(failure.message)")
        // All statements are fixed: if SQLite rejects one, the tables differ from those that were created.
        case SQLITE_ERROR where failure.isOfStatement:
            damaged("SQLite cannot read journal.sqlite: \(failure.message)")
        default:
            JournalFailure(.inputOutput, "the journal \(path): \(failure.message) (SQLite \(failure.codeDescription))")
        }
    }
}
