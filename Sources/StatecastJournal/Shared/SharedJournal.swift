package import StatecastProtocol
import StatecastThreading

/// A store's journal in a database that several nodes share. One of them leads, and only it can write.
///
/// A node opens it after it has claimed the store: see ``SharedDatabase/claim(_:above:_:)``. Before, a standby reads
/// it.
package final class SharedJournal: Journal, CustomStringConvertible {
    package let database: any SharedDatabase
    package let store: StoreName
    package let crashMarker: CrashMarker
    private let progress = Locked(Progress())
    private let file: (any AnyObject & Sendable)?

    private struct Progress {
        /// The claim under which this node reads and writes.
        var fence: Fence?
        /// The last record that is known to be durable.
        var last = JournalSequence(0)
        /// The number of attempts at a commit whose outcome is unknown.
        var attempts = 0
        var isSynchronous = false
        var isClosed = false
    }

    /// - Parameters:
    ///   - crashMarker: survives the process, on this machine.
    ///   - file: of the marker; kept open as long as the journal.
    package init(
        _ database: any SharedDatabase,
        store: StoreName,
        crashMarker: CrashMarker,
        keeping file: (any AnyObject & Sendable)? = nil
    ) {
        (self.database, self.store, self.crashMarker, self.file) = (database, store, crashMarker, file)
    }

    package var description: String { "\(database)" }

    /// `full` if each commit waits for another server, so that the loss of one loses nothing.
    package var durability: Durability { progress.withLock { $0.isSynchronous } ? .full : .normal }

    // MARK: Opening

    /// Uses a claim of this node from now on.
    ///
    /// - Parameter last: the last record, if it is known: ``open()`` reads it.
    package func claimed(_ fence: Fence, isSynchronous: Bool, after last: JournalSequence = JournalSequence(0)) {
        progress.withLock { ($0.fence, $0.isSynchronous, $0.last) = (fence, isSynchronous, last) }
    }

    private func requireFence() throws(JournalFailure) -> Fence {
        guard let fence = progress.withLock({ $0.fence }) else {
            throw JournalFailure(.misfit, "a shared journal is opened by a node that has claimed its store")
        }
        return fence
    }

    private var fenced: JournalFailure {
        JournalFailure(.fenced, "another node leads the store \"\(store)\" now: start this one again, to stand by")
    }

    private func unknown(_ reason: String) -> JournalFailure {
        JournalFailure(.unknown, "the outcome of a commit of the store \"\(store)\" is unknown: \(reason)")
    }

    /// Reads what the store contains under the claim.
    package func open() throws(JournalFailure) -> JournalContents? {
        let fence = try requireFence()
        guard let shared = try database.contents(of: store, by: fence) else { throw fenced }
        progress.withLock { $0.last = shared.contents.last }
        var contents = shared.contents
        contents.term = fence.term
        return contents
    }

    /// `statecast-journal create` begins histories: an empty database may be the wrong one.
    package func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure) {
        throw JournalFailure(.misfit, "the database has no store \"\(store)\": create it with statecast-journal create")
    }

    /// Notes the start of the epoch, unless another node has claimed or written in the meantime.
    package func claim(_ epoch: EpochStart) throws(JournalFailure) {
        let fence = try requireFence()
        switch database.start(epoch, of: store, after: progress.withLock { $0.last }, by: fence) {
        case .confirmed: break
        case .late: try renew()
        // Nothing was served yet: another start of the node is cheaper than finding out.
        case .unknown(let reason): throw unknown(reason)
        case .full(let reason): throw JournalFailure(.storageFull, reason)
        case .refused: throw fenced
        }
    }

    // MARK: Commits

    /// Appends records.
    ///
    /// - Throws: ``JournalFailure`` with code `unknown` if the outcome is unknown: then this function must be called
    ///   again, with the same records, until it returns or throws another code. With code `fenced` another node leads.
    package func append(_ records: [JournalRecord]) throws(JournalFailure) {
        guard let end = records.last?.sequence else { return }
        let fence = try requireFence()
        let (last, attempts) = progress.withLock { ($0.last, $0.attempts) }
        let result: CommitReply
        switch attempts {
        case 0: result = appendFirst(records, after: last, fence)
        // Alternately: a renewal at `end` succeeds if the records are stored, an append if they are not. This renewal
        // does not settle them, since it may be on one server alone, as they may be; the next one does.
        case let attempt where attempt % 2 == 1:
            result = renew(at: end, settled: last, fence)
        default: result = database.append(records, to: store, after: last, by: fence)
        }
        switch result {
        case .confirmed:
            progress.withLock { ($0.last, $0.attempts) = (end, 0) }
        case .full(let reason) where attempts == 0: throw JournalFailure(.storageFull, reason)
        case .refused where attempts == 0: throw fenced
        case .unknown(let reason), .full(let reason):
            progress.withLock { $0.attempts += 1 }
            throw unknown(reason)
        // After a first attempt, a refusal may only say that the first one has taken effect.
        case .late, .refused:
            progress.withLock { $0.attempts += 1 }
            throw unknown("it was answered late, or refused")
        }
    }

    private func appendFirst(_ records: [JournalRecord], after last: JournalSequence, _ fence: Fence) -> CommitReply {
        let reply = database.append(records, to: store, after: last, by: fence)
        guard reply == .refused else { return reply }
        // The database may have stopped waiting for another server, or may wait for one again: the row tells it then.
        guard renew(at: last, settled: last, fence) == .confirmed else { return .refused }
        return database.append(records, to: store, after: last, by: fence)
    }

    private func renew(at last: JournalSequence, settled: JournalSequence, _ fence: Fence) -> CommitReply {
        database.renew(store, at: last, settled: settled, by: fence, resigning: nil)
    }

    /// Shows the other nodes that this one leads. Not while the outcome of a commit is unknown.
    ///
    /// - Throws: ``JournalFailure`` with code `fenced` or `unknown`.
    package func renew() throws(JournalFailure) { try renew(resigning: nil) }

    /// Gives up the store, after the last commit.
    package func resign(to heir: NodeID?) throws(JournalFailure) { try renew(resigning: Resignation(heir: heir)) }

    private func renew(resigning: Resignation?) throws(JournalFailure) {
        let (fence, (last, attempts)) = (try requireFence(), progress.withLock { ($0.last, $0.attempts) })
        // The head is not known: a refusal would show nothing.
        guard attempts == 0 else { throw unknown("a commit before it is not resolved yet") }
        switch database.renew(store, at: last, settled: last, by: fence, resigning: resigning) {
        case .confirmed: break
        case .refused: throw fenced
        case .late: throw unknown("it was answered late")
        case .unknown(let reason), .full(let reason): throw unknown(reason)
        }
    }

    // MARK: Actions that ended a process

    /// Tells the other nodes which action the last process of this one was reducing when it ended: it must not end them
    /// all, one after the other.
    package func reportCrashes() throws(JournalFailure) {
        crashMarker.open()
        guard !crashMarker.crashes.isEmpty else { return }
        try database.add(crashMarker.crashes, of: store)
        crashMarker.removeSuspects()
    }

    /// Reads what the processes of all nodes have reported.
    package func readCrashes() throws(JournalFailure) { crashMarker.shared = try database.crashes(of: store) }

    /// The outcome of an action is durable.
    package func removeCrashes(of session: SessionID, _ number: ActionNumber) throws(JournalFailure) {
        try database.removeCrashes(of: session, number, of: store)
    }

    // MARK: Reading

    package func epochs() throws(JournalFailure) -> [EpochStart] {
        try database.contents(of: store, by: nil)?.contents.epochs ?? []
    }

    package func records(after sequence: JournalSequence, maxBytes: Int) throws(JournalFailure) -> [JournalRecord] {
        let (fence, last, isClosed) = progress.withLock { ($0.fence, $0.last, $0.isClosed) }
        guard !isClosed else { throw JournalFailure(.inputOutput, "the journal is closed") }
        let records = try database.records(of: store, after: sequence, maxBytes: maxBytes, by: fence)
        // Where the claim is not in effect, there are none.
        guard fence == nil || sequence >= last || !records.isEmpty else { throw fenced }
        return records
    }

    package func snapshots() throws(JournalFailure) -> [SnapshotEntry] { try database.snapshots(of: store) }

    package func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot {
        try database.snapshot(entry, of: store)
    }

    // MARK: Snapshots

    package func store(_ snapshot: JournalSnapshot, as kind: SnapshotKind) throws(JournalFailure) {
        try database.store(snapshot, as: kind, of: store, by: try requireFence())
    }

    package func prune(keeping historyBytes: Int) throws(JournalFailure) {
        try database.prune(store, keeping: historyBytes, by: try requireFence())
    }

    /// Ends reading, too: a recovery may read for a long time.
    package func close() {
        progress.withLock { $0.isClosed = true }
        database.close(store)
    }
}
