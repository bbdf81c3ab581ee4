package import StatecastProtocol

/// A database that several nodes share, as one of them reaches it: the statements of a shared journal, each of which is
/// a transaction of its own.
///
/// The functions block until the answer has arrived, for some seconds at most, and may be called from any thread. The
/// commits of one store wait for each other, and so do the calls for snapshots, for the leadership, and for reading.
package protocol SharedDatabase: AnyObject, Sendable, CustomStringConvertible {
    // MARK: Leadership

    /// The rows of some stores, in their order.
    ///
    /// - Throws: ``JournalFailure`` with code `misfit` if the database has no such store; `input-output`.
    func leaders(of stores: [StoreName]) throws(JournalFailure) -> [LeaderRow]

    /// Claims all stores or none, if each row is still as it was seen.
    ///
    /// - Parameter floors: for each store an epoch that its new term exceeds.
    /// - Returns: the terms; `nil` if a row has changed.
    /// - Throws: ``JournalFailure`` with code `unknown` if the claim may have taken effect; `input-output`.
    func claim(_ stores: [StoreName], above floors: [Epoch], _ claim: LeaderClaim) throws(JournalFailure) -> [Epoch]?

    /// Records that a node stands by, and the last record of each store that it has read.
    func standBy(_ node: NodeID, for stores: [StoreName], heads: [JournalSequence]) throws(JournalFailure)

    /// A node that stands by and has noted so within a duration, other than `node`: the one that has read most.
    func standby(of store: StoreName, within duration: Duration, besides node: NodeID) throws(JournalFailure) -> NodeID?

    // MARK: Commits

    /// Appends records after `last`, all or none of them.
    func append(_ records: [JournalRecord], to store: StoreName, after last: JournalSequence, by fence: Fence)
        -> CommitReply
    /// Notes the start of an epoch, if `last` is the last record.
    func start(_ epoch: EpochStart, of store: StoreName, after last: JournalSequence, by fence: Fence) -> CommitReply
    /// Raises the beat, if `last` is the last record; those up to `settled` are durable.
    func renew(
        _ store: StoreName,
        at last: JournalSequence,
        settled: JournalSequence,
        by fence: Fence,
        resigning: Resignation?
    ) -> CommitReply

    // MARK: Content

    /// - Parameter fence: if there is one, the content is read only where this claim is in effect.
    /// - Returns: `nil` if the claim is not in effect.
    /// - Throws: ``JournalFailure`` with code `misfit` if the database has no such store, `damaged`, `input-output`.
    func contents(of store: StoreName, by fence: Fence?) throws(JournalFailure) -> SharedContents?
    /// The records after one, up to about `maxBytes`: at least one, if there is one.
    ///
    /// - Returns: no records if the claim is not in effect.
    /// - Throws: ``JournalFailure`` with code `pruned`, `damaged` or `input-output`.
    func records(
        of store: StoreName,
        after sequence: JournalSequence,
        maxBytes: Int,
        by fence: Fence?
    ) throws(JournalFailure) -> [JournalRecord]
    func snapshots(of store: StoreName) throws(JournalFailure) -> [SnapshotEntry]
    func snapshot(_ entry: SnapshotEntry, of store: StoreName) throws(JournalFailure) -> JournalSnapshot

    // MARK: Snapshots

    /// Stores a snapshot, in parts; readers see it when it is complete.
    ///
    /// - Throws: ``JournalFailure`` with code `input-output`, also if another node leads.
    func store(
        _ snapshot: JournalSnapshot,
        as kind: SnapshotKind,
        of store: StoreName,
        by fence: Fence
    ) throws(JournalFailure)
    /// Removes the oldest snapshots except for two, and the records before them, while the records after the second
    /// oldest have at least `historyBytes`.
    func prune(_ store: StoreName, keeping historyBytes: Int, by fence: Fence) throws(JournalFailure)

    // MARK: Actions that ended a process

    /// Adds up how often processes of all nodes have ended.
    func add(_ crashes: [CrashMarker.Crashes], of store: StoreName) throws(JournalFailure)
    func crashes(of store: StoreName) throws(JournalFailure) -> [CrashMarker.Crashes]
    func removeCrashes(of session: SessionID, _ number: ActionNumber, of store: StoreName) throws(JournalFailure)

    /// Closes the connection for the commits of a store.
    func close(_ store: StoreName)
}

/// What a write of a leader names: it takes effect only while its claim does.
package struct Fence: Hashable, Sendable {
    package let term: Epoch
    package let holder: NodeID

    package init(term: Epoch, holder: NodeID) { (self.term, self.holder) = (term, holder) }
}

/// A leader gives up its stores.
package struct Resignation: Hashable, Sendable {
    /// Who should follow.
    package let heir: NodeID?

    package init(heir: NodeID?) { self.heir = heir }
}

/// The answer to a commit.
package enum CommitReply: Hashable, Sendable {
    /// It is durable.
    case confirmed
    /// It was answered late. If an operator stops waiting for another server, all waiting commits are answered so,
    /// without a warning: only a later commit shows that it is durable.
    case late
    /// Its condition was not met: nothing was written.
    case refused
    /// The database has no room: nothing was written.
    case full(String)
    /// It may have taken effect, or may do so at any later time.
    case unknown(String)

    /// Reads the database's answer to a statement that commits.
    ///
    /// - Parameters:
    ///   - duration: since the statement was sent.
    ///   - count: the number of rows that the statement writes if its condition is met.
    ///   - late: see ``CommitTimes/late``; large statements may take longer.
    package init(_ answer: StatementAnswer, after duration: Duration, expecting count: Int, late: Duration) {
        self =
            switch answer {
            // The commit did not wait for the other server: it may be on this one alone.
            case .done(_, let warning?): .unknown(warning)
            case .done(let rows, nil): rows != count ? .refused : duration < late ? .confirmed : .late
            // A record or epoch of this number exists.
            case .failed(state: "23505", _): .refused
            case .failed(state: "53100", let reason): .full(reason)
            case .failed(_, let reason): .unknown(reason)
            }
    }
}

/// What the time of a commit says about its outcome.
package struct CommitTimes: Sendable {
    /// A slower answer may be that of an operator who has stopped waiting for another server.
    package var late = Duration.milliseconds(500)
    /// Without an answer in this time, the outcome is unknown.
    package var limit = Duration.seconds(1)

    package init() {}
}

/// What a database answers to a statement that writes.
package enum StatementAnswer {
    /// - Parameters:
    ///   - rows: the number of rows that were written.
    ///   - warning: if there is one, the rows may be on one server only.
    case done(rows: Int, warning: String? = nil)
    /// - Parameter state: the SQLSTATE; `nil`: there was no answer.
    case failed(state: String?, String)
}

/// The content of a store in a shared database.
package struct SharedContents: Hashable, Sendable {
    package let contents: JournalContents
    /// The record at which the records of this database begin.
    package let first: JournalSequence

    package init(_ contents: JournalContents, first: JournalSequence) {
        (self.contents, self.first) = (contents, first)
    }
}
