internal import Foundation
internal import Journal
internal import SyncProtocol

/// Where everything of a journal lies.
struct JournalDirectory: Hashable, Sendable {
    let path: String

    var database: String { path + "/journal.sqlite" }
    var log: String { database + "-wal" }
    var marks: String { path + "/marks" }
    var lock: String { path + "/lock" }
    var snapshotFolder: String { path + "/snapshots" }

    /// The size of SQLite's log; 0 if it is not there.
    var logBytes: Int { byteCount(log) }

    var hasDatabase: Bool { FileManager.default.fileExists(atPath: database) }

    /// Whether nothing was begun here, as far as the files say that; what the page of marks says is another matter.
    var isUnbegun: Bool {
        guard byteCount(log) == 0 else { return false }
        // SQLite has a journal of this kind only while it makes the database.
        if byteCount(database + "-journal") > 0 { return true }
        guard byteCount(database) == 0 else { return false }
        return (try? snapshots().isEmpty) ?? true
    }

    /// SQLite removes the log of a database that is missing or empty, also where it is only to look.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged` before that can happen.
    func checkFiles() throws(JournalFailure) {
        guard hasDatabase else { throw damaged("journal.sqlite is missing") }
        guard byteCount(database) > 0 || byteCount(log) == 0 else {
            throw damaged("journal.sqlite is empty, and its log journal.sqlite-wal is not")
        }
    }

    /// SQLite keeps a file of its own beside a database even for those who only read it.
    ///
    /// - Throws: ``JournalFailure`` that says what to do where that is missing and cannot be made.
    func requireReadable() throws(JournalFailure) {
        guard hasDatabase, access(database + "-shm", F_OK) != 0, access(path, W_OK) != 0 else { return }
        throw JournalFailure(
            .inputOutput,
            "the journal \(path) cannot be read where it lies, as SQLite cannot make journal.sqlite-shm there: copy the "
                + "directory to where something can be written"
        )
    }

    /// The size of a file; 0 if it is not there.
    private func byteCount(_ file: String) -> Int {
        var status = stat()
        return stat(file, &status) == 0 ? Int(status.st_size) : 0
    }

    /// The snapshots in it, oldest first. Files of other names are none.
    func snapshots() throws(JournalFailure) -> [SnapshotEntry] {
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: snapshotFolder)
            return Set(names.compactMap(SnapshotFile.entry(ofName:))).sorted { $0.sequence < $1.sequence }
        } catch CocoaError.fileReadNoSuchFile {
            throw damaged("the folder \"snapshots\" is missing")
        } catch {
            throw JournalFailure(.inputOutput, "cannot list \(snapshotFolder): \(error.localizedDescription)")
        }
    }

    /// Why no database is to be seen: there is no journal, or the system does not let this user look.
    var absent: JournalFailure {
        var status = stat()
        if stat(database, &status) != 0, errno != ENOENT, errno != ENOTDIR {
            return failed("cannot read the journal \(path)", errno)
        }
        return JournalFailure(.inputOutput, "there is no journal in \(path): it has no journal.sqlite")
    }

    /// What to say of a journal that does not hold what it once acknowledged.
    func damaged(_ what: String) -> JournalFailure {
        JournalFailure(
            .damaged,
            "the journal \(path) is damaged: \(what). Nothing was changed. Restore a backup, or go on from the last state "
                + "that can be read, under a new lineage, with: statecast-journal salvage \(path) NEW-DIRECTORY",
            reason: what
        )
    }

    func failed(_ what: String, _ code: Int32) -> JournalFailure {
        JournalFailure(
            Self.isLackOfRoom(code) ? .storageFull : .inputOutput,
            "\(what): \(String(cString: strerror(code)))"
        )
    }

    /// Whether the system says with this `errno` that the disk, a quota or a limit is exhausted.
    static func isLackOfRoom(_ code: Int32) -> Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }

    /// Waits until the disk has SQLite's log, as far as it is written.
    func syncLog() throws(JournalFailure) {
        let path = database + "-wal"
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            // All of it is in the database, then.
            if errno == ENOENT { return }
            throw failed("cannot open \(path)", errno)
        }
        defer { Foundation.close(descriptor) }
        guard syncFile(descriptor) == 0 else { throw failed("cannot write \(path)", errno) }
    }

    /// Removes what was begun of snapshots and never finished.
    func removeDrafts() throws(JournalFailure) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: snapshotFolder)) ?? []
        for name in names where name.hasSuffix(SnapshotFile.draftSuffix) {
            let path = snapshotFolder + "/" + name
            guard unlink(path) == 0 || errno == ENOENT else { throw failed("cannot remove \(path)", errno) }
        }
    }
}
