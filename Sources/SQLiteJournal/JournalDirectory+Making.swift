internal import Foundation
internal import Journal

/// How it comes to be, for its user alone, and how it goes.
extension JournalDirectory {
    /// An empty name would make it the root of all directories.
    func requireName() throws(JournalFailure) {
        guard path.isEmpty else { return }
        throw JournalFailure(.inputOutput, "the name of the journal's directory is empty: name a directory")
    }

    /// Makes it, for its user alone.
    func make() throws(JournalFailure) {
        try requireName()
        try make(path)
    }

    /// Makes what is to be in it before anything is begun.
    func makeSnapshotFolder() throws(JournalFailure) { try make(snapshotFolder) }

    private func make(_ folder: String) throws(JournalFailure) {
        if mkdir(folder, 0o700) == 0 { return }
        if errno == ENOENT, let end = folder.lastIndex(of: "/"), end != folder.startIndex {
            try make(String(folder[..<end]))
            if mkdir(folder, 0o700) == 0 { return }
        }
        let code = errno
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue { return }
        guard code == ENOTDIR || code == EEXIST else {
            throw failed("cannot make the journal's directory \(path)", code)
        }
        throw JournalFailure(
            .inputOutput,
            "cannot make the journal's directory \(path): \(folder) is a file, or lies below one: name another directory"
        )
    }

    /// Makes the file of the database, for its user alone: what SQLite makes beside it is like it.
    func makeDatabase() throws(JournalFailure) {
        // Never where there is one: closing it would take SQLite's locks away from this process.
        guard !hasDatabase else { return }
        let descriptor = Foundation.open(database, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failed("cannot make \(database)", errno) }
        Foundation.close(descriptor)
    }

    /// - Throws: ``JournalFailure`` if something is there already.
    func requireEmpty(besidesLock isLocked: Bool = false) throws(JournalFailure) {
        try requireName()
        guard FileManager.default.fileExists(atPath: path) else { return }
        let own = isLocked ? [lock] : []
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path),
            names.allSatisfy({ own.contains("\(path)/\($0)") })
        else {
            throw JournalFailure(
                .inputOutput,
                "\(path) is there already, and not empty: name a directory that does not exist"
            )
        }
    }

    /// Removes what was begun here, as far as that can be done.
    func removeJournal() {
        for file in [database, log, database + "-shm", database + "-journal", marks, lock, snapshotFolder, path] {
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
}
