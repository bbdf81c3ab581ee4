internal import Foundation
internal import Journal

/// The files of an open journal, as they were when it was opened.
///
/// A file that is removed remains usable for processes that have it open: what they write is lost, and another primary can
/// begin a history in the same place. A directory that is removed or replaced takes its files with it.
///
/// The open files keep their inodes from being given to others: SQLite has the database and its log open, and `MarkPage` the
/// page of marks. So a path that leads to the same device and inode leads to the open file, which then has a link.
struct OpenFiles {
    private struct File {
        let path: String
        let device: dev_t
        let inode: ino_t

        /// `nil` if there is no such file.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            self.path = path
            (device, inode) = (status.st_dev, status.st_ino)
        }
    }

    private let directory: JournalDirectory
    private let files: [File]

    /// Notes what there is of the page of marks, the database and its log.
    ///
    /// - Throws: ``JournalFailure`` with code `removed` if there is no page of marks.
    init(_ directory: JournalDirectory) throws(JournalFailure) {
        self.directory = directory
        files = [directory.marks, directory.database, directory.log].compactMap(File.init)
        guard files.first?.path == directory.marks else { throw removed("\(directory.marks) is gone") }
    }

    /// Checks that each path still leads to the same file: at most three calls of the system.
    ///
    /// - Throws: ``JournalFailure`` with code `removed`.
    func check() throws(JournalFailure) {
        for file in files {
            var status = stat()
            guard stat(file.path, &status) == 0 else {
                guard errno == ENOENT || errno == ENOTDIR else {
                    throw directory.failed("cannot look at \(file.path)", errno)
                }
                throw removed("\(file.path) is gone")
            }
            guard status.st_dev == file.device, status.st_ino == file.inode else {
                throw removed("\(file.path) is another file now")
            }
        }
    }

    private func removed(_ what: String) -> JournalFailure {
        JournalFailure(
            .removed,
            "the journal \(directory.path) was removed or replaced while it was in use: \(what). Nothing is acknowledged any "
                + "more. Put its directory back, or restore a backup, before a primary is started: without it a new history "
                + "begins"
        )
    }
}
