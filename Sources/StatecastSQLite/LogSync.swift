import Dispatch
import StatecastJournal
import StatecastThreading

/// Makes SQLite's log durable within a second of each append, for the durabilities at which a commit does not.
///
/// The syncs run on a thread of their own, so that appends do not wait for the disk.
final class LogSync: Sendable {
    /// From the first append that is not synced. With a timer's tolerance of a tenth and the sync itself, it stays
    /// below a second.
    private static let delay = DispatchTimeInterval.milliseconds(800)

    private struct State {
        var isScheduled = false
        var isClosed = false
        var failure: JournalFailure?
    }

    private let thread = DispatchQueue(label: "statecast.journal.sync", qos: .utility)
    private let state = Locked(State())
    private let directory: JournalDirectory

    /// The failure that ended the syncs: the content of a disk that failed is unknown.
    var failure: JournalFailure? { state.withLock { $0.failure } }

    init(_ directory: JournalDirectory) { self.directory = directory }

    /// Schedules a sync, unless one is scheduled.
    func appended() {
        let isFirst = state.withLock { state in
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { thread.asyncAfter(deadline: .now() + Self.delay) { [self] in sync() } }
    }

    /// Waits for a sync that is running. Later ones do nothing.
    func close() {
        state.withLock { $0.isClosed = true }
        thread.sync {}
    }

    private func sync() {
        let isClosed = state.withLock { state in
            // An append during the sync schedules the next one.
            state.isScheduled = false
            return state.isClosed
        }
        if isClosed { return }
        do throws(JournalFailure) {
            if try directory.tryToSyncLog() != nil { appended() }
        } catch {
            state.withLock { $0.failure = error }
        }
    }
}
