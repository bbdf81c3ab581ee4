import CStatecastSQLite
import Dispatch
import StatecastJournal
import StatecastThreading

/// Writes SQLite's log into the database, concurrently with appends, on a connection of its own.
final class Checkpoints: Sendable {
    /// A checkpoint is due after this many appended bytes.
    private static let intervalBytes = 8 << 20
    /// If the log holds more bytes than this after a checkpoint, it restarts: appending waits until the log is in the
    /// database, and then overwrites the file from its beginning. The file keeps its size.
    private static let restartBytes = 16 << 20
    /// The most bytes that the log's file has after a commit returns. At this size appending waits until the log is in
    /// the database and its file is empty. The file exceeds it only while a transaction reads the database for long, or
    /// while there is no room in the database.
    static let maxLogBytes = 32 << 20

    private let connection: Locked<SQLiteConnection?>
    private let thread = DispatchQueue(label: "statecast.journal.checkpoint", qos: .utility)
    private let progress = Locked((appended: 0, isRunning: false))
    /// The log's file is truncated from this size on.
    private let limitBytes = Locked(maxLogBytes)
    private let pageBytes: Int
    private let directory: JournalDirectory
    private let failed = Locked<JournalFailure?>(nil)

    /// The failure that ends checkpoints, other than a lack of room: the content of a disk that failed is unknown.
    var failure: JournalFailure? { failed.withLock { $0 } }

    /// - Parameter settings: the pragmas of a connection.
    init(_ directory: JournalDirectory, _ settings: [String]) throws {
        self.directory = directory
        let connection = try SQLiteConnection(
            directory.database,
            settings: settings,
            // To restart the log, a checkpoint waits for readers, and appends wait for the checkpoint.
            busyTimeout: .milliseconds(100)
        )
        pageBytes = try connection.pageBytes()
        self.connection = Locked(connection)
    }

    func close() {
        thread.sync {}
        // The rest stays in the log and is read from there.
        _ = try? connection.use { db in try db.checkpoint(.truncate) }
        connection.close()
    }

    /// - Parameter bytes: the records of a commit, which writes whole pages: at least a leaf and some inner ones.
    func appended(_ bytes: Int) { progress.withLock { $0.appended += bytes + 2 * pageBytes } }

    /// Truncates the log's file when it reaches its bound. Appending waits for this.
    func limitLog() throws(JournalFailure) {
        let bytes = directory.logBytes
        guard bytes >= limitBytes.withLock({ $0 }) else { return }
        var isEmptied = false
        do throws(JournalFailure) { isEmptied = try run(.truncate) != nil } catch {
            // The next append fails if the log has no room.
            guard error.code == .storageFull else { throw error }
        }
        // The cause may persist, and each attempt delays appending.
        limitBytes.withLock { $0 = isEmptied ? Self.maxLogBytes : bytes + Self.intervalBytes }
    }

    /// Starts a checkpoint in the background, unless one is running or little was appended since the last one.
    func startIfDue(_ marks: CommitMarkFile) {
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
                // Without room the log grows until an append fails.
                if error.code != .storageFull { failed.withLock { $0 = error } }
            }
            progress.withLock { $0.isRunning = false }
        }
    }

    /// Runs a checkpoint.
    func run() throws(JournalFailure) {
        guard let pages = try run(.passive), pages * pageBytes >= Self.restartBytes else { return }
        guard try run(.restart) != nil else { return }
        // The log is no longer read, but its file keeps its size: the next append truncates it.
        limitBytes.withLock { $0 = Self.maxLogBytes }
    }

    /// - Returns: the number of pages in the log; `nil` if a reader prevents the checkpoint. Then the log grows until
    ///   the next attempt.
    private func run(_ kind: SQLiteConnection.Checkpoint) throws(JournalFailure) -> Int? {
        do { return try connection.use { db in try db.checkpoint(kind) } } catch {
            if let failure = error as? SQLiteFailure, failure.primaryCode == SQLITE_BUSY { return nil }
            throw directory.failure(error)
        }
    }
}
