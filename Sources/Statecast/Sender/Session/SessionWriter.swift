internal import Dispatch
internal import Locking
internal import SyncProtocol

/// Between a sender's loop, which must not wait, and its session file: while one change is being flushed, those that come
/// meanwhile gather, and the next flush takes them all.
final class SessionWriter: Sendable {
    private struct Line {
        var change = SessionChange()
        /// How many changes were handed in.
        var count = 0
        var isWriting = false
        /// After a failure nothing is written any more.
        var failure: StatecastError?
        var isClosed = false
        /// How many are on the disk.
        var written = 0
        var wake: (@Sendable () -> Void)?
    }

    private let file: SessionFile
    private let line = Locked(Line())
    private let queue = DispatchQueue(label: "statecast.session", qos: .userInitiated)

    init(_ file: SessionFile) { self.file = file }

    /// Calls `wake`, on any thread, now and whenever more is on the disk or nothing ever will be.
    func onProgress(_ wake: @escaping @Sendable () -> Void) {
        line.withLock { $0.wake = wake }
        wake()
    }

    /// How many of the changes that were handed in are on the disk, and why no more will be.
    var progress: (written: Int, failure: StatecastError?) { line.withLock { ($0.written, $0.failure) } }

    /// Hands in what happened; in order.
    func write(_ change: SessionChange) {
        let isFirst = line.withLock { line in
            line.count += 1
            guard line.failure == nil, !line.isClosed else { return false }
            line.change.merge(change)
            defer { line.isWriting = true }
            return !line.isWriting
        }
        if isFirst { queue.async { [self] in writeAll() } }
    }

    /// Waits until all that was handed in is on the disk, and lets go of the file.
    func close() {
        line.withLock { $0.isClosed = true }
        queue.sync {}
        file.close()
    }

    private func writeAll() {
        while let (change, count) = next() {
            do throws(StatecastError) {
                try file.save(change)
                note { $0.written = count }
            } catch {
                return note { $0.failure = error }
            }
        }
    }

    private func note(_ change: (inout Line) -> Void) {
        let wake = line.withLock { line in
            change(&line)
            return line.wake
        }
        wake?()
    }

    private func next() -> (SessionChange, Int)? {
        line.withLock { line in
            guard !line.change.isEmpty else {
                line.isWriting = false
                return nil
            }
            defer { line.change = SessionChange() }
            return (line.change, line.count)
        }
    }
}
