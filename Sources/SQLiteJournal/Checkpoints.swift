internal import Dispatch
internal import GRDB
internal import Journal
internal import Locking

/// Writes SQLite's log into the database, beside whoever appends to the log.
final class Checkpoints: Sendable {
    /// So many bytes appended make it due.
    private static let intervalBytes = 8 << 20
    /// A log that has grown to so many bytes is made to begin anew, for which appending waits a moment.
    private static let logBytesMax = 64 << 20

    private let connection: DatabaseQueue
    private let thread = DispatchQueue(label: "statecast.journal.checkpoint", qos: .utility)
    private let progress = Locked((appended: 0, sinceRestart: 0, isRunning: false))
    private let directory: JournalDirectory
    private let failed = Locked<JournalFailure?>(nil)

    /// Why the log can no longer be written into the database, other than for lack of room: nobody knows what a disk has
    /// that once failed.
    var failure: JournalFailure? { failed.withLock { $0 } }

    init(_ directory: JournalDirectory, _ configuration: Configuration) throws {
        self.directory = directory
        var configuration = configuration
        // To begin anew it has to wait for whoever reads, and keeps whoever appends waiting meanwhile.
        configuration.busyMode = .timeout(0.1)
        connection = try DatabaseQueue(path: directory.database, configuration: configuration)
    }

    func close() {
        thread.sync {}
        // What it could not write stays in the log, and is read from there.
        try? connection.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        try? connection.close()
    }

    func appended(_ bytes: Int) {
        progress.withLock { progress in
            progress.appended += bytes
            progress.sinceRestart += bytes
        }
    }

    /// Starts one in the background, unless one is running or little was appended since the last one.
    func startIfDue(_ marks: MarkPage) {
        let isDue = progress.withLock { progress in
            guard progress.appended >= Self.intervalBytes, !progress.isRunning else { return false }
            progress.isRunning = true
            progress.appended = 0
            return true
        }
        guard isDue else { return }
        thread.async { [self] in
            do throws(JournalFailure) {
                try run()
                try marks.flush()
            } catch {
                // Without room the log stays as it is, and grows: appending will say so.
                if error.code != .storageFull { failed.withLock { $0 = error } }
            }
            progress.withLock { $0.isRunning = false }
        }
    }

    /// Runs one, and waits for it.
    func run() throws(JournalFailure) {
        try run(.passive)
        guard progress.withLock({ $0.sinceRestart >= Self.logBytesMax }), try run(.restart) else { return }
        progress.withLock { $0.sinceRestart = 0 }
    }

    /// - Returns: `false` if somebody reads what would have to go. What matters is in the database then; the log grows until
    ///   the next attempt.
    @discardableResult
    private func run(_ mode: Database.CheckpointMode) throws(JournalFailure) -> Bool {
        do {
            try connection.writeWithoutTransaction { db in _ = try db.checkpoint(mode) }
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            return false
        } catch {
            throw directory.failure(error)
        }
    }
}
