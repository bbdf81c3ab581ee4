import StatecastJournal
package import StatecastProtocol

/// A store that is not recovered yet.
package protocol StoreDefinition: Sendable {
    var name: StoreName { get }
    /// The names of the actions that the store accepts.
    var actionNames: [String] { get }
    /// Recovers the state and history from which the store continues. Blocks while it reads.
    ///
    /// - Parameter lineage: of a new history.
    func recover(
        limits: Limits,
        time: Timestamp,
        lineage: Lineage,
        _ onProgress: @escaping RecoveryProgress
    ) throws(StatecastError) -> any StartableStore
    /// What follows the store while another node leads it; `nil` if its journal is not shared.
    func standby(limits: Limits) -> (any StandbyStore)?
    /// The node was stopped, whether it ever served the store or not.
    func end()
}

extension StoreDefinition {
    package func recover(
        limits: Limits,
        time: Timestamp,
        lineage: Lineage
    ) throws(StatecastError) -> any StartableStore {
        try recover(limits: limits, time: time, lineage: lineage) { _ in }
    }
}

/// Receives how far a store is recovered, on the thread that recovers it.
package typealias RecoveryProgress = @Sendable (StoreHealth) -> Void

/// A store that other nodes lead. Its functions block; one at a time is called.
package protocol StandbyStore: AnyObject, Sendable {
    var name: StoreName { get }
    /// The database that its nodes share.
    var database: any SharedDatabase { get }
    /// The last record that it has.
    var head: JournalSequence { get }
    /// The highest epoch that it knows.
    var epoch: Epoch { get }
    /// Reads the records that are settled.
    func follow(_ row: LeaderRow) throws(JournalFailure) -> LeaderMachine.Copy
    /// Recovers the store after it was claimed, and begins an incarnation.
    ///
    /// - Throws: ``StatecastError`` with code `journal`, caused by a ``JournalFailure``.
    func recover(_ fence: Fence, isSynchronous: Bool, time: Timestamp) throws(StatecastError) -> any StartableStore
    /// Ends reading, from any thread.
    func close()
}

/// A store that is recovered, and not served yet.
package protocol StartableStore: Sendable {
    var name: StoreName { get }
    func serve(on node: NodeServices) -> any RunningStore
    /// The store will not be served.
    func abandon()
}

/// A store as its node sees it: without its types. Used on the node's loop only.
package protocol RunningStore: AnyObject {
    var name: StoreName { get }
    /// The last published revision, its history, and the primary's incarnation.
    var position: Position { get }
    var nextDeadline: Instant { get }
    /// What it has done, for those who look at its peers.
    var activity: StoreActivity { get }
    /// The number of a session's next action; `nil` if there is no such session.
    func nextNumber(of session: SessionID) -> ActionNumber?
    /// A queue or table that is beyond its limit, which only a fault can cause.
    var exceededLimit: String? { get }
    /// Whether another turn has work now.
    var hasWork: Bool { get }
    /// Whether the store takes one more frame of a sender.
    var intake: StoreIntake { get }

    /// The sockets are bound: the store is served from now on.
    func begin()
    /// - Parameter sender: of a subscription to receipts; `nil` on a node without keys.
    func subscribed(to topic: Topic, from sender: FrameSender?)
    func unsubscribed(from topic: Topic)
    /// A frame of actions, which waits for a turn.
    ///
    /// - Parameter sender: `nil` on a node without keys.
    func received(_ frame: ActionsFrame, from sender: FrameSender?)
    /// Processes what waits: results of other threads, requests of this process, one batch of actions, joins.
    func turn()
    func tick()
    /// What operators see of the store.
    func sample() -> StoreHealth
    /// Processes the requests that this process has made, except those that the journal has no room for.
    func finish()
    /// Renews the claim to a shared journal.
    func renewLease()
    /// Gives up a shared journal.
    ///
    /// - Throws: ``JournalFailure`` with code `fenced` or `unknown`.
    func resign(to heir: NodeID?) throws(JournalFailure)
    /// Another node may lead: nothing more is published, and no outcome is awaited.
    func abandon(because failure: JournalFailure)
    /// The store is not served any more.
    func end()
}

/// Whether a store takes one more frame of a sender.
package enum StoreIntake {
    /// It takes one.
    case open
    /// It takes none, and cannot reduce those that wait: its journal has no room, or their users exceed their rates.
    case full
    /// It takes none, and can reduce those that wait.
    case busy
}

/// The node's services for a store.
package struct NodeServices {
    var limits: Limits
    let actionsEndpoint: String
    let environment: any StoreEnvironment
    let journalPolicy: JournalPolicy
    /// Receives what the commits to shared journals show about the claim; from any thread.
    var onLease: @Sendable (LeaseReport) -> Void = { _ in }
    var turnBudget = TurnBudget()
    /// Whether the peers of the stores are listed.
    var listsPeers = false
    /// The lists of peers that are published.
    var publishedLists: Set<StoreName> = []
    /// Publishes a message of a store; `nil`: of one that the node does not serve.
    let publish: (_ store: StoreName?, _ message: [UInt8]) -> Void
    /// The store, and therefore the node, has failed.
    let fail: (StatecastError) -> Void
    /// Makes the loop take a turn soon. From any thread.
    let wake: @Sendable () -> Void
}

/// An event from another thread for a store.
enum StoreResult: Sendable {
    /// The journal has stored all records through a sequence number, or failed and stores no later one.
    case journaled(Result<JournalSequence, JournalFailure>)
    case encoded(EncodedSnapshot)
    case snapshotStored(isStored: Bool)
    case effectCancelled(work: UInt64)
}
