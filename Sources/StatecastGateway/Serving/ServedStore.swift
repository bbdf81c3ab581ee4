import Logging
import Statecast
import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import StatecastThreading

/// A store that the gateway serves: the replica that follows it, its history, and its clients' sessions.
final class ServedStore: Sendable {
    /// The journal on this machine, and the reader of its end.
    struct Journal: Sendable {
        let history: StoreHistory
        let tail: JournalTail
    }

    let name: String
    let feed: StoreFeed
    let replica: Replica<Value>
    let peers: PeersFollower
    let sessions: SendSessions?
    private let schemaReader: @Sendable () throws -> ActionSender
    private let schemaAnswer = Locked<SchemaAnswer?>(nil)
    let hidden: HiddenPaths
    private let row: ActionRow
    let changes = Locked<ChangeIndex?>(nil)
    let series = TimeSeries()
    private let journalPath: String?
    private let journalState: Monitor<JournalState>
    private let readers = WorkGate(maxRunning: 2)
    /// Writes or searches states, beside a few others.
    let comparisons = WorkGate(maxRunning: 4)
    private let logger: Logger

    private struct SchemaAnswer {
        /// Those of the primary that was asked.
        let lineage: Lineage?
        let epoch: Epoch?
        let actions: Task<[ActionDescription], any Error>
    }

    private struct JournalState {
        var result: Result<Journal, GatewayFailure>
        /// Whether it was opened, or could not be.
        var isTried = false
    }

    /// More changes at once restart the index of changes.
    private static let maxPlaces = 10_000
    /// How often the journal is read while the state does not change, since rejections do not change it.
    private static let pause = Duration.milliseconds(250)
    /// How often an unreadable journal is opened again.
    private static let retry = Duration.seconds(5)

    /// - Throws: `StatecastError` of a replica.
    init(
        _ store: GatewayConfiguration.Store,
        _ configuration: GatewayConfiguration,
        hiding hidden: HiddenPaths,
        row: ActionRow,
        _ logger: Logger
    ) throws(StatecastError) {
        let (name, endpoint, sending) = (store.name, configuration.endpoint, configuration.sender)
        let (receipts, lists) = (configuration.receipts ?? endpoint, configuration.peers ?? endpoint)
        (self.name, journalPath, self.logger) = (name, store.journal, logger)
        (self.hidden, self.row) = (hidden, row)
        replica = try Replica(untyped: name, from: endpoint, configuration: configuration.replica, logger: logger)
        feed = StoreFeed(replica)
        var listing = configuration.replica
        listing.name = nil
        // GET peers reports it if the primary has no list, or refuses it.
        var quiet = logger
        quiet.logLevel = .error
        peers = try PeersFollower { [listing, quiet] () throws(StatecastError) in
            try Replica(store: name + StoreName.suffixOfPeers, from: lists, configuration: listing, logger: quiet)
        }
        // The schema is published beside the states.
        schemaReader = { try ActionSender(store: name, from: endpoint, configuration: sending, logger: logger) }
        sessions =
            configuration.allowsSending
            ? SendSessions(of: name, secret: configuration.sessionSecret, logger: logger) { session in
                try ActionSender(
                    store: name,
                    from: receipts,
                    continuing: session,
                    configuration: sending,
                    logger: logger
                )
            } : nil
        let why =
            store.journal == nil
            ? "the gateway has no --journal for store \(store.name)" : "the journal is read when the store has a state"
        journalState = Monitor(
            JournalState(result: .failure(GatewayFailure(.noJournal, why)), isTried: store.journal == nil)
        )
    }

    // MARK: Following

    /// Follows the store until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in await feed.run() }
            group.addTask { [self] in await followChanges() }
            group.addTask { [self] in await peers.run() }
            group.addTask { [self] in
                while (try? await Task.sleep(for: TimeSeries.interval)) != nil { series.advance(lag: lag) }
            }
        }
        await sessions?.close()
    }

    /// The revisions that the replica lags.
    var lag: Double? { replica.health.report().stores.first?.gauges[.replicaLagRevisions] }

    /// Finds what changed since the last state: by the journal's records, or without them by comparing states.
    private func followChanges() async {
        var (shown, tried) = (nil as StateSnapshot<Value>?, nil as ContinuousClock.Instant?)
        var seen = StoreFeed.Current()
        while !Task.isCancelled {
            let last = seen
            seen = (try? await within(Self.pause) { try await self.feed.next(after: last, hasLog: false) }) ?? feed.now
            guard let snapshot = seen.snapshot else { continue }
            let isNew = snapshot.position != shown?.position
            if shown?.position.lineage != snapshot.position.lineage {
                changes.withLock { $0 = ChangeIndex(from: snapshot.revision) }
                tried = nil
            }
            let hasNewEpoch = shown?.position.epoch != snapshot.position.epoch
            if let journal = try? journal(), journal.history.identity.lineage == snapshot.position.lineage {
                await read(journal, requiring: hasNewEpoch ? snapshot.position.epoch : nil)
            } else {
                if seen.status == .live { series.add(applied: 0, rejected: nil, bytes: nil) }
                if isNew { note(from: shown, to: snapshot) }
                if journalPath != nil, tried.map({ ContinuousClock.now - $0 >= Self.retry }) ?? true {
                    tried = .now
                    await openJournal(snapshot)
                }
            }
            shown = snapshot
        }
    }

    /// - Parameter epoch: a new epoch of the primary, which may have begun in another directory, such as a copy that
    ///   replaced this one.
    private func read(_ journal: Journal, requiring epoch: Epoch?) async {
        do {
            let part = try await Threads.runBlocking {
                if let epoch { try journal.history.requireKnown(epoch) }
                return try journal.tail.read()
            }
            series.add(applied: part.applied, rejected: part.rejected, bytes: part.patchBytes)
            feed.append(part.rows, count: part.rowCount)
        } catch { failed(error) }
    }

    private func openJournal(_ snapshot: StateSnapshot<Value>) async {
        guard let path = journalPath, let index = changes.withLock(\.self) else { return }
        let (name, row, hidden) = (name, row, hidden)
        do {
            let journal = try await Threads.runBlocking {
                let history = try StoreHistory(at: path, of: name, row: row, hiding: hidden)
                guard history.identity.lineage == snapshot.position.lineage else {
                    throw GatewayFailure(
                        .noJournal,
                        "the journal \(path) has lineage \(history.identity.lineage), the primary publishes "
                            + "\(snapshot.position.lineage): it is not the journal of this primary"
                    )
                }
                try history.requireKnown(snapshot.position.epoch)
                return Journal(history: history, tail: try JournalTail(of: history, index))
            }
            index.restart(from: journal.tail.start)
            journalState.change { $0 = JournalState(result: .success(journal), isTried: true) }
        } catch { failed(error) }
    }

    private func failed(_ error: any Error) {
        let failure = GatewayFailure(error)
        let isNew = journalState.change { state -> Bool in
            defer { state = JournalState(result: .failure(failure), isTried: true) }
            if case .failure(let before) = state.result { return before.message != failure.message }
            return true
        }
        if isNew { logger.warning("no history", metadata: ["store": "\(name)", "reason": "\(failure.message)"]) }
    }

    /// Without a journal, a row of the log tells the revisions of an update.
    private func note(from old: StateSnapshot<Value>?, to new: StateSnapshot<Value>) {
        guard let old, old.position.lineage == new.position.lineage, new.revision > old.revision else { return }
        var places: [ChangeIndex.Place] = []
        StateChanges(hidden: hidden).run(from: old.state, to: new.state, at: []) { change in
            places.append(ChangeIndex.Place(path: change.path, hasParts: change.new?.isContainer ?? false))
            return places.count < Self.maxPlaces
        }
        let index = changes.withLock(\.self)
        if places.count < Self.maxPlaces {
            index?.record(places, at: new.revision, by: nil)
        } else {
            index?.restart(from: new.revision)
        }
        series.add(applied: new.revision.distance(beyond: old.revision), rejected: nil, bytes: nil)
        var writer = JSONWriter()
        writer.object { writer in
            writer.object("update") { writer in
                writer.member("from", old.revision)
                writer.member("to", new.revision)
            }
            writer.member("time", Timestamp.systemClock())
            writer.member("ops", places.count)
        }
        feed.append([writer.bytes], count: 1)
    }

    // MARK: State and history

    /// That of the newest state.
    var position: Position? { feed.now.snapshot?.position }

    /// The newest state.
    ///
    /// - Throws: ``GatewayFailure`` with code `no-state`.
    func present() throws -> StateSnapshot<Value> {
        if let snapshot = feed.now.snapshot { return snapshot }
        let why =
            if case .refused(let reason) = replica.status { reason.message } else { "the primary does not answer yet" }
        throw GatewayFailure(.noState, "store \(name) has no state: \(why)", retryAfter: 1)
    }

    /// The journal.
    ///
    /// - Throws: ``GatewayFailure`` with code `no-journal`.
    func journal() throws -> Journal {
        let journal = try journalState.value.result.get()
        guard let snapshot = feed.now.snapshot, snapshot.position.lineage != journal.history.identity.lineage else {
            return journal
        }
        throw GatewayFailure(
            .noJournal,
            "the primary began a new history, which the journal \(journal.history.path) does not have yet",
            retryAfter: 5
        )
    }

    /// Reads the journal beside at most one other request.
    ///
    /// - Throws: ``GatewayFailure``; what `work` throws.
    func reading<Result: Sendable>(
        _ work: @escaping @Sendable (Journal, inout ReadBudget) throws -> Result
    ) async throws -> Result {
        let journal = try journal()
        return try await readers.run {
            var budget = ReadBudget()
            do { return try work(journal, &budget) } catch let failure as JournalFailure where failure.code == .pruned {
                var pruned = GatewayFailure(failure)
                pruned.oldest = try? journal.history.reader.snapshots().first?.revision
                throw pruned
            }
        }
    }

    /// The state of a revision with its position, or the newest one.
    func state(at revision: Revision?) async throws -> (state: Value, position: Position) {
        guard let revision else {
            let snapshot = try present()
            return (snapshot.state, snapshot.position)
        }
        return try await reading { journal, budget in
            let version = try journal.history.state(at: revision, &budget)
            return (version.tree, try journal.history.position(of: version))
        }
    }

    /// Waits until the gateway, which may just have started, has a state and has opened the journal; five seconds at
    /// most.
    func waitUntilResumable() async throws {
        _ = try await within(.seconds(5)) { [feed, journalState] in
            var seen = feed.now
            while seen.snapshot == nil { seen = try await feed.next(after: seen, hasLog: false) }
            _ = try await journalState.wait { $0.isTried ? true : nil }
        }
    }

    /// The state that a client has, if the present one continues it.
    func resumed(_ position: Position, before snapshot: StateSnapshot<Value>) async -> Value? {
        guard position.lineage == snapshot.position.lineage, position.revision <= snapshot.revision else { return nil }
        if position == snapshot.position { return snapshot.state }
        return try? await reading { journal, budget in
            let history = journal.history
            try history.requireKnown(snapshot.position.epoch)
            // A later epoch may have begun before that revision: then it was lost.
            let next = try history.reader.epochs().first { $0.epoch > position.epoch }
            guard next.map({ $0.revision >= position.revision }) ?? true else { return nil }
            let version = try history.state(at: position.revision, &budget)
            return version.place.revision == position.revision ? version.tree : nil
        }
    }

    /// The actions that the primary accepts, requested once per epoch.
    ///
    /// - Throws: ``GatewayFailure`` with code `no-state`; `Rejection`.
    func schema() async throws -> [ActionDescription] {
        let position = feed.now.snapshot?.position
        let answer = schemaAnswer.withLock { answer in
            if let answer, (answer.lineage, answer.epoch) == (position?.lineage, position?.epoch) { return answer }
            let asked = Task { [schemaReader] in
                let sender = try schemaReader()
                let actions = try await within(.seconds(5)) { try await withSender(sender) { try await $0.actions() } }
                if let actions { return actions }
                throw GatewayFailure(.noState, "the primary does not answer; try again", retryAfter: 1)
            }
            let new = SchemaAnswer(lineage: position?.lineage, epoch: position?.epoch, actions: asked)
            answer = new
            return new
        }
        do { return try await answer.actions.value } catch {
            schemaAnswer.withLock { if $0?.actions == answer.actions { $0 = nil } }
            throw error
        }
    }

    // MARK: Descriptions

    /// Writes the status of a store: `status`, `since` and, unless it is live, `why`.
    static func write(_ present: StoreFeed.Current, to writer: inout JSONWriter) {
        let (status, why): (String, String?) =
            switch present.status {
            case .joining: ("joining", "the primary has not sent a state yet")
            case .live: ("live", nil)
            case .stale: ("stale", "the primary has missed several heartbeats")
            case .refused(let reason): ("refused", reason.message)
            case .incompatible(let reason): ("incompatible", reason.message)
            }
        writer.member("status", status)
        writer.member("since", present.since)
        if let why { writer.member("why", why) }
    }

    func write(to writer: inout JSONWriter) {
        let present = feed.now
        writer.member("store", name)
        Self.write(present, to: &writer)
        writer.member(present.snapshot?.position)
        writer.array("features") { writer in
            if (try? journal()) != nil { writer.string("history") }
            if sessions != nil { writer.string("send") }
        }
        if let journalPath { writer.member("journal", journalPath) }
        if journalPath != nil, case .failure(let failure) = journalState.value.result {
            writer.member("noHistory", failure.message)
        }
        GatewayLimits.write(to: &writer)
    }
}
