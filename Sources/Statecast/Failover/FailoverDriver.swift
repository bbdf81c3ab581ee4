import Logging
import Metrics
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastThreading

/// What the commits to a shared journal show about the node's claim.
package enum LeaseReport: Sendable {
    /// A commit or renewal is confirmed that was sent at an instant.
    case confirmed(sent: Instant)
    /// The outcome of a commit is unknown; it is repeated.
    case unknown(JournalFailure)
    /// It has failed for good.
    case failed(JournalFailure)
}

/// The part of a primary's node that shares its journals with other nodes: follows the leader, takes over, and knows
/// until when the node may serve. Used on one thread only; what blocks runs on a queue of its own.
final class FailoverDriver {
    private var machine: LeaderMachine
    private let stores: [any StandbyStore]
    private let database: any SharedDatabase
    private let identity: NodeID
    private let settings: LeaderSettings
    private let environment: any StoreEnvironment
    private let logger: Logger
    /// The number of the leader's records that this node has not copied.
    private let lag = Locked<UInt64>(0)
    private let takeovers = NodeMetric.primaryTakeovers.counter()
    private let queue: any WorkQueue
    /// For renewals during a recovery.
    private let renewals: any WorkQueue
    private let reports: EventQueue<Report>
    private var random: EnvironmentRandom
    private let onStep: (Step) -> Void
    /// The claim in effect, once it is confirmed.
    private var claim: (LeaderClaim, terms: [Epoch])?
    private var recovered: [any StartableStore] = []
    /// What has failed for good.
    private var failure: StatecastError?
    /// Why the outcome of the last claim or commit is unknown.
    private var unknown: JournalFailure?
    /// When the node has last noted that it stands by.
    private var notedAt: Instant?

    private enum Report: Sendable {
        case observed([LeaderRow], LeaderMachine.Copy, isNoted: Bool)
        case unobserved(JournalFailure)
        case claimed(LeaderClaim, Result<[Epoch]?, JournalFailure>, sent: Instant)
        case recovered(Result<[any StartableStore], StatecastError>)
        case lease(LeaseReport)
    }

    /// What the node has to do.
    enum Step {
        /// Serve these stores.
        case lead([any StartableStore])
        case renew
        /// End without publishing anything more.
        case end(StatecastError)
    }

    /// - Parameters:
    ///   - stores: in the order of their names.
    ///   - endpoint: where the node would take actions: shown in logs and `status`.
    ///   - onStep: called on the thread of this driver.
    init(
        _ stores: [any StandbyStore],
        _ settings: LeaderSettings,
        endpoint: String,
        environment: any StoreEnvironment,
        logger: Logger,
        wake: @escaping @Sendable () -> Void,
        onStep: @escaping (Step) -> Void
    ) {
        (self.stores, self.settings, self.environment, self.logger) = (stores, settings, environment, logger)
        self.onStep = onStep
        database = stores[0].database
        random = EnvironmentRandom(environment: environment)
        identity = NodeID(using: &random)
        machine = LeaderMachine(settings, identity: identity, endpoint: endpoint, now: environment.now)
        queue = environment.makeQueue("statecast.leadership", .high)
        renewals = environment.makeQueue("statecast.lease", .high)
        reports = EventQueue(wake: wake)
    }

    var nextDeadline: Instant? { machine.nextDeadline }

    /// Receives what the commits of the stores show, from any thread.
    var onLease: @Sendable (LeaseReport) -> Void { { [reports] in reports.append(.lease($0)) } }

    // MARK: Events

    /// Handles what has arrived from other threads.
    ///
    /// - Returns: whether the node may serve now.
    func turn() -> Bool {
        for report in reports.dequeueAll() { handle(report) }
        var mayServe = false
        update { mayServe = $0.mayServe(at: environment.now, into: &$1) }
        return mayServe
    }

    func tick() {
        update { $0.tick(at: environment.now, into: &$1) }
    }

    /// Whether the node leads, and its last commit is recent enough to publish.
    var isLeading: Bool { machine.phase == .leading }

    /// What operators see of the node.
    var gauges: [NodeMetric: Double] {
        [
            .primaryLeading: isLeading ? 1 : 0,
            .primaryLeaseSeconds: machine.leaseLeft(at: environment.now) / .seconds(1),
            .primaryStandbyLagRecords: isLeading ? 0 : Double(lag.withLock(\.self)),
        ]
    }

    private func handle(_ report: Report) {
        let now = environment.now
        switch report {
        case .observed(let rows, let copy, let isNoted):
            if isNoted { notedAt = now }
            update { $0.observed(rows, copy: copy, at: now, using: &random, into: &$1) }
        case .unobserved(let failure):
            update { $0.unobserved(because: "\(failure)", at: now, into: &$1) }
        case .claimed(let claim, .success(let terms?), let sent):
            (self.claim, unknown) = ((claim, terms), nil)
            update { $0.claimed(sent: sent, at: now, into: &$1) }
        case .claimed(_, let result, _):
            // Each repetition may fail for the same reason.
            if case .failure(let failure) = result, failure.message != unknown?.message {
                unknown = failure
                logger.warning("the stores are not claimed: \(failure)")
            }
            update { $0.claimed(sent: nil, at: now, into: &$1) }
        case .recovered(.success(let stores)):
            recovered = stores
            update { $0.recovered(at: now, into: &$1) }
        case .recovered(.failure(let error)): fail(error)
        case .lease(.confirmed(let sent)):
            unknown = nil
            update { $0.confirmed(sent: sent, at: now, into: &$1) }
        case .lease(.unknown(let failure)): unknown = failure
        case .lease(.failed(let failure)): fail(StatecastError(.journal, "\(failure)", cause: failure))
        }
    }

    private func fail(_ error: StatecastError) {
        let isPassing = [.inputOutput, .storageFull].contains((error.cause as? JournalFailure)?.code)
        failure = failure ?? (isPassing ? Self.mustRestart(error.message) : error)
        update { $0.failed(error.message, into: &$1) }
    }

    /// Another start of the node works: it becomes a standby.
    private static func mustRestart(_ reason: String) -> StatecastError {
        StatecastError(.journal, reason, cause: JournalFailure(.unknown, reason))
    }

    private func update(_ event: (inout LeaderMachine, inout [LeaderDirective]) -> Void) {
        var directives: [LeaderDirective] = []
        event(&machine, &directives)
        for directive in directives { perform(directive) }
    }

    // MARK: Directives

    private func perform(_ directive: LeaderDirective) {
        switch directive {
        case .observe: observe()
        case .claim(let claim):
            let (names, floors) = (stores.map(\.name), stores.map(\.epoch))
            queue.async { [database, reports, environment] in
                let sent = environment.now
                let terms = Result { () throws(JournalFailure) in try database.claim(names, above: floors, claim) }
                reports.append(.claimed(claim, terms, sent: sent))
            }
        case .recover: recover()
        case .lead:
            takeovers.increment()
            onStep(.lead(recovered))
            recovered = []
        case .renew: if machine.phase == .recovering { renew() } else { onStep(.renew) }
        case .report(let notice): log(notice)
        case .end(let reason):
            for store in recovered { store.abandon() }
            recovered = []
            onStep(.end(failure ?? Self.mustRestart(reason + because)))
        }
    }

    private var because: String { unknown.map { ": \($0)" } ?? "" }

    private func observe() {
        let isNoteDue = notedAt.map { environment.now >= $0.advanced(by: settings.renewalInterval) } ?? true
        queue.async { [stores, database, identity, reports, newLag = lag] in
            do throws(JournalFailure) {
                let names = stores.map(\.name)
                let rows = try database.leaders(of: names)
                var copy = LeaderMachine.Copy.complete
                var lag: UInt64 = 0
                for (store, row) in zip(stores, rows) {
                    copy = max(copy, try store.follow(row))
                    lag = max(lag, row.head.rawValue - min(store.head.rawValue, row.head.rawValue))
                }
                newLag.withLock { $0 = lag }
                let notes = isNoteDue && copy == .complete
                if notes {
                    try database.standBy(identity, for: names, heads: stores.map(\.head))
                }
                reports.append(.observed(rows, copy, isNoted: notes))
            } catch {
                reports.append(.unobserved(error))
            }
        }
    }

    private func recover() {
        guard let claim else { return }
        queue.async { [stores, reports, environment] in
            var recovered: [any StartableStore] = []
            do throws(StatecastError) {
                for (index, store) in stores.enumerated() {
                    let fence = Fence(term: claim.terms[index], holder: claim.0.holder)
                    let isSynchronous = claim.0.seen[index].isSynchronous
                    recovered.append(try store.recover(fence, isSynchronous: isSynchronous, time: environment.time))
                }
                reports.append(.recovered(.success(recovered)))
            } catch {
                for store in recovered { store.abandon() }
                reports.append(.recovered(.failure(error)))
            }
        }
    }

    /// Renews the claim while the recovery reads. The last records stay: no other node can write, and this one does not
    /// yet.
    private func renew() {
        guard let claim else { return }
        renewals.async { [stores, database, reports, environment] in
            let (names, sent) = (stores.map(\.name), environment.now)
            // If it fails, the recovery notices it when it has ended.
            guard let rows = try? database.leaders(of: names) else { return }
            for (index, row) in rows.enumerated() {
                let fence = Fence(term: claim.terms[index], holder: claim.0.holder)
                let reply = database.renew(names[index], at: row.head, settled: row.settled, by: fence, resigning: nil)
                guard reply == .confirmed else { return }
            }
            reports.append(.lease(.confirmed(sent: sent)))
        }
    }

    /// Gives up the stores for another node that stands by, if there is one. Blocks.
    ///
    /// - Parameter resign: gives up all stores.
    /// - Returns: why they could not be given up.
    func resign(with resign: (NodeID?) throws(JournalFailure) -> Void) -> StatecastError? {
        // Without an heir, the others take half a second longer.
        let heir = try? database.standby(of: stores[0].name, within: settings.leaseTime, besides: identity)
        do throws(JournalFailure) {
            try resign(heir)
            return nil
        } catch { return Self.mustRestart("the stores could not be given up: \(error)") }
    }

    /// Waits for what calls the database: a process must not end while it connects, since libpq uses libraries with
    /// exit handlers.
    func close() {
        for store in stores { store.close() }
        queue.sync {}
        renewals.sync {}
    }

    private func log(_ notice: LeaderNotice) {
        switch notice {
        case .standby(let leader): logger.notice("standing by", metadata: ["leader": "\(leader ?? "none")"])
        case .reading: logger.notice("reading the records", metadata: ["database": "\(database)"])
        case .outdated:
            logger.warning("a later build has led: this node does not take over until it is upgraded")
        case .unreachable(let reason): logger.warning("the database cannot be read: \(reason)")
        case .lostTail:
            logger.error(
                """
                the database was promoted, and may lack acknowledged actions: start the old server again, or run \
                statecast-journal accept-loss \(database) STORE
                """
            )
        case .leading: logger.notice("leading", metadata: ["term": "\(claim?.terms.first.map { "\($0)" } ?? "")"])
        case .muted: logger.warning("nothing is published until a commit is confirmed\(because)")
        }
    }
}
