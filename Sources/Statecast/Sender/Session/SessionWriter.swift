package import StatecastProtocol
import StatecastThreading

/// What keeps a session: a file, or a simulated one.
package protocol SessionStorage: Sendable {
    /// Appends a change; durable on return.
    func save(_ change: SessionChange) throws(SaveFailure)
    /// No change is saved any more.
    func close()
}

/// Writes changes to a session file on a thread of its own, so that the sender's loop does not wait for the disk.
/// Changes that arrive during a write are merged and written together.
final class SessionWriter: Sendable {
    private struct Pending {
        var change = SessionChange()
        /// The number of changes that were submitted.
        var count = 0
        var isWriting = false
        /// Ends all writing.
        var failure: SaveFailure?
        var isClosed = false
        /// The number of changes that are durable.
        var written = 0
        var wake: (@Sendable () -> Void)?
    }

    private let file: any SessionStorage
    private let pending = Locked(Pending())
    private let queue: any WorkQueue

    init(_ file: any SessionStorage, _ environment: any StoreEnvironment) {
        self.file = file
        queue = environment.makeQueue("statecast.session", .high)
    }

    /// Calls `wake`, on any thread, now and at each later change of ``progress``.
    func onProgress(_ wake: @escaping @Sendable () -> Void) {
        pending.withLock { $0.wake = wake }
        wake()
    }

    /// The number of submitted changes that are durable, and the failure that ended writing.
    var progress: (written: Int, failure: SaveFailure?) { pending.withLock { ($0.written, $0.failure) } }

    /// Whether a submitted change is not written yet.
    var isWriting: Bool { pending.withLock { $0.isWriting } }

    /// Submits a change.
    func write(_ change: SessionChange) {
        let isFirst = pending.withLock { pending in
            pending.count += 1
            guard pending.failure == nil, !pending.isClosed else { return false }
            pending.change.merge(change)
            defer { pending.isWriting = true }
            return !pending.isWriting
        }
        if isFirst { queue.async { [self] in writeAll() } }
    }

    /// Waits until all submitted changes are durable, or none can be written any more.
    func drain() { queue.sync {} }

    /// Waits as ``drain()``, and closes the file.
    func close() {
        pending.withLock { $0.isClosed = true }
        drain()
        file.close()
    }

    private func writeAll() {
        while let (change, count) = next() {
            do throws(SaveFailure) {
                try file.save(change)
                note { $0.written = count }
            } catch {
                return note { $0.failure = error }
            }
        }
    }

    private func note(_ change: (inout Pending) -> Void) {
        let wake = pending.withLock { pending in
            change(&pending)
            return pending.wake
        }
        wake?()
    }

    private func next() -> (SessionChange, Int)? {
        pending.withLock { pending in
            guard !pending.change.isEmpty else {
                pending.isWriting = false
                return nil
            }
            defer { pending.change = SessionChange() }
            return (pending.change, pending.count)
        }
    }
}
