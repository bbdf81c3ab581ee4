import StatecastFiles
import StatecastJournal

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The lock on a journal's directory. It is held until it is released, at the latest by the end of the process.
final class DirectoryLock: Sendable {
    private let file: OpenFile

    /// - Throws: ``JournalFailure`` with code `in-use` that names the process that holds the lock.
    convenience init(_ directory: JournalDirectory) throws(JournalFailure) {
        let file: OpenFile
        do throws(SystemFailure) { file = try Self.open(directory) } catch { throw directory.failed(error) }
        try self.init(file, directory)
    }

    /// Locks the directory of a journal that is only read. Returns `nil` if the directory is read-only and has no file
    /// "lock": no primary can use it.
    ///
    /// - Throws: ``JournalFailure`` with code `in-use` that names the process that holds the lock.
    static func whileReading(_ directory: JournalDirectory) throws(JournalFailure) -> DirectoryLock? {
        let file: OpenFile
        do throws(SystemFailure) { file = try openForReading(directory) } catch {
            if error.code == ENOENT { return nil }
            throw directory.failed(error)
        }
        return try DirectoryLock(file, directory)
    }

    private static func open(_ directory: JournalDirectory) throws(SystemFailure) -> OpenFile {
        try OpenFile(directory.lock, O_RDWR | O_CREAT)
    }

    private static func openForReading(_ directory: JournalDirectory) throws(SystemFailure) -> OpenFile {
        do throws(SystemFailure) { return try open(directory) } catch {
            guard [EROFS, EACCES, EPERM].contains(error.code) else { throw error }
        }
        return try OpenFile(directory.lock, O_RDONLY)
    }

    private init(_ file: consuming OpenFile, _ directory: JournalDirectory) throws(JournalFailure) {
        let isLocked: Bool
        do throws(SystemFailure) { isLocked = try Self.lock(file) } catch { throw directory.failed(error) }
        guard isLocked else {
            throw JournalFailure(
                .inUse,
                "the journal \(directory.path) is in use by \(Self.holder(in: file)): stop that process, or choose "
                    + "another directory"
            )
        }
        // The file may have been removed between opening and locking.
        guard FileIdentity(file) == FileIdentity(directory.lock) else {
            throw JournalFailure(
                .inUse,
                "the journal \(directory.path) was removed while it was being opened: try again"
            )
        }
        ftruncate(file.descriptor, 0)
        try? file.write(Array(processDescription.utf8)[...], at: 0)
        self.file = file
    }

    /// Waits up to 20 ms: ``holder(of:)`` in another process holds the lock for some microseconds.
    private static func lock(_ file: borrowing OpenFile) throws(SystemFailure) -> Bool {
        for _ in 0..<20 {
            if try file.lock() { return true }
            usleep(1000)
        }
        return try file.lock()
    }

    private static func holder(in file: borrowing OpenFile) -> String {
        let name = (try? file.read(256, at: 0)) ?? []
        return name.isEmpty ? "another process" : String(decoding: name, as: UTF8.self)
    }

    /// The process that holds the lock; `nil` if the directory is not locked.
    static func holder(of directory: JournalDirectory) -> String? {
        guard let file = try? OpenFile(directory.lock, O_RDONLY), (try? file.lock(.shared)) != true else { return nil }
        return holder(in: file)
    }
}

/// The files of an open journal, as they were when it was opened.
///
/// A removed file can still be written, but the data is lost. Another primary can begin a history in the same place.
/// The same holds for the files in a directory that is removed or replaced.
///
/// SQLite has the database and its log open, and ``CommitMarkFile`` the file "marks", so no other file can have their
/// identities.
struct OpenedFiles {
    private let directory: JournalDirectory
    private let files: [(path: String, identity: FileIdentity)]

    /// - Throws: ``JournalFailure`` with code `removed` if there is no commit mark file.
    init(_ directory: JournalDirectory) throws(JournalFailure) {
        self.directory = directory
        files = [directory.marks, directory.database, directory.log].compactMap { path in
            FileIdentity(path).map { (path, $0) }
        }
        guard files.first?.path == directory.marks else { throw removed("\(directory.marks) is gone") }
    }

    /// Checks that each path still leads to the same file, with at most three system calls.
    ///
    /// - Throws: ``JournalFailure`` with code `removed`.
    func check() throws(JournalFailure) {
        for (path, identity) in files {
            guard let found = FileIdentity(path) else {
                guard errno == ENOENT || errno == ENOTDIR else {
                    throw directory.failed("cannot look at \(path)", errno)
                }
                throw removed("\(path) is gone")
            }
            guard found == identity else { throw removed("\(path) is another file now") }
        }
    }

    private func removed(_ what: String) -> JournalFailure {
        JournalFailure(
            .removed,
            "the journal \(directory.path) was removed or replaced while it was in use: \(what). Nothing more is "
                + "acknowledged. Put its directory back, or restore a backup, before a primary is started: without it "
                + "a new history begins"
        )
    }
}
