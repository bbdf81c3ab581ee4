internal import Foundation
internal import Journal
internal import SyncProtocol

/// Where everything of a journal lies.
struct JournalDirectory: Hashable, Sendable {
    let path: String

    var database: String { path + "/journal.sqlite" }
    var marks: String { path + "/marks" }
    var lock: String { path + "/lock" }
    var snapshotFolder: String { path + "/snapshots" }

    var hasDatabase: Bool { FileManager.default.fileExists(atPath: database) }

    /// Makes it, for its user alone.
    func make() throws(JournalFailure) {
        do {
            try FileManager.default.createDirectory(
                atPath: snapshotFolder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw JournalFailure(
                .inputOutput,
                "cannot make the journal's directory \(path): \(error.localizedDescription)"
            )
        }
    }

    /// - Throws: ``JournalFailure`` if something is there already.
    func requireEmpty() throws(JournalFailure) {
        guard FileManager.default.fileExists(atPath: path) else { return }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path), names.isEmpty else {
            throw JournalFailure(
                .inputOutput,
                "\(path) is there already, and not empty: name a directory that does not exist"
            )
        }
    }

    /// Removes what was begun here, as far as that can be done.
    func removeJournal() {
        for file in [database, database + "-wal", database + "-shm", marks, lock, snapshotFolder, path] {
            // The directory itself last, and only if there is nothing else in it.
            if file == path { rmdir(path) } else { try? FileManager.default.removeItem(atPath: file) }
        }
    }

    /// Waits until the disk knows which files are in it.
    func sync() throws(JournalFailure) {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failed("cannot open \(path)", errno) }
        defer { Foundation.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failed("cannot write \(path)", errno) }
    }

    /// The snapshots in it, oldest first. Files of other names are none.
    func snapshots() throws(JournalFailure) -> [SnapshotEntry] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: snapshotFolder)
                .compactMap(SnapshotFile.entry(ofName:))
                .sorted { $0.sequence < $1.sequence }
        } catch {
            throw JournalFailure(.inputOutput, "cannot list \(snapshotFolder): \(error.localizedDescription)")
        }
    }

    /// What to say of a journal that does not hold what it once acknowledged.
    func damaged(_ what: String) -> JournalFailure {
        JournalFailure(
            .damaged,
            "the journal \(path) is damaged: \(what). Nothing was changed. Restore a backup, or go on from the last state "
                + "that can be read, under a new lineage, with: statecast-journal salvage \(path) NEW-DIRECTORY"
        )
    }

    func failed(_ what: String, _ code: Int32) -> JournalFailure {
        JournalFailure(
            code == ENOSPC || code == EDQUOT ? .storageFull : .inputOutput,
            "\(what): \(String(cString: strerror(code)))"
        )
    }
}
