import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastThreading

/// A replicated database that the nodes of a cluster share: a server, the one that stands by for it, and those whose
/// place another one has taken, which some nodes may still reach.
///
/// Unchecked, but safe: see ``World``.
final class SimulatedDatabase: @unchecked Sendable {
    private let world: World
    private var random: SplitMix64
    private(set) var servers: [DatabaseServer]
    private var crashes: [StoreName: [CrashMarker.Crashes]] = [:]
    /// The nodes that have noted that they stand by, and when.
    private var standbys: [NodeID: (head: JournalSequence, time: Instant)] = [:]
    private var histories: [StoreName: StoreHistory] = [:]

    init(_ world: World, _ stores: [StoreName], time: Timestamp) {
        self.world = world
        random = world.random.split()
        var content: DatabaseServer.Content = [:]
        for store in stores {
            var row = LeaderRow(
                term: Epoch(0),
                beat: 0,
                settled: JournalSequence(0),
                head: JournalSequence(0)
            )
            row.isResigned = true
            var image = JournalImage()
            image.create(JournalIdentity(store: store, lineage: Lineage(using: &random), begun: time))
            content[store] = StoredContent(row: row, timeline: 1, image: image)
        }
        servers = [DatabaseServer(world, timeline: 1, content, hasCopy: true)]
        observe()
    }

    /// The server that takes writes.
    var current: DatabaseServer { servers[servers.count - 1] }

    /// What is written is checked from now on.
    func check(_ history: StoreHistory, of store: StoreName) { histories[store] = history }

    private func observe() {
        current.onWrite = { [weak self] before, after in self?.wrote(before, after) }
    }

    private func wrote(_ before: StoredContent, _ after: StoredContent) {
        guard let identity = after.image.contents?.identity, let history = histories[identity.store] else { return }
        let lineage = identity.lineage
        for record in after.image.records.suffix(while: { $0.sequence > before.image.last }) {
            history.recorded(record, in: lineage)
        }
        for epoch in after.image.epochs.dropFirst(before.image.epochs.count) { history.claimed(epoch, in: lineage) }
        for entry in after.image.snapshots where !before.image.snapshots.contains(entry) {
            guard let snapshot = try? after.image.snapshot(entry) else { continue }
            if let context = try? SnapshotContext(decoding: snapshot.context) {
                history.begun(lineage, context.summary)
            }
            history.stored(snapshot, in: lineage)
        }
    }

    /// A server for a new connection: of several that take writes, any.
    func server() -> DatabaseServer? {
        let running = servers.filter(\.isUp)
        return running.count > 1 ? random.pick(running) : running.first
    }

    // MARK: Standbys and crashes, which no transaction of a store has

    func standBy(_ node: NodeID, _ head: JournalSequence) { standbys[node] = (head, world.now) }

    func standby(within duration: Duration, besides node: NodeID) -> NodeID? {
        standbys.filter { $0.key != node && $0.value.time.advanced(by: duration) > world.now }
            .max { ($0.value.head, $0.value.time, "\($0.key)") < ($1.value.head, $1.value.time, "\($1.key)") }?.key
    }

    func add(_ added: [CrashMarker.Crashes], of store: StoreName) {
        for crash in added {
            let before = crashes[store, default: []].first { ($0.session, $0.number) == (crash.session, crash.number) }
            remove(crash.session, crash.number, of: store)
            let sum = CrashMarker.Crashes(
                session: crash.session,
                number: crash.number,
                count: crash.count + (before?.count ?? 0)
            )
            crashes[store, default: []].append(sum)
        }
    }

    func crashes(of store: StoreName) -> [CrashMarker.Crashes] { crashes[store] ?? [] }

    func remove(_ session: SessionID, _ number: ActionNumber, of store: StoreName) {
        crashes[store]?.removeAll { ($0.session, $0.number) == (session, number) }
    }

    // MARK: What can go wrong

    /// The other server takes the place of the current one, which some nodes may reach for some time.
    ///
    /// - Returns: whether it does.
    func promote() -> Bool {
        let old = current
        guard old.isReplaceable else { return false }
        let content = old.takeCopy()
        old.onWrite = { _, _ in }
        old.setSynchronous(true)
        if random.oneIn(2) {
            old.goDown()
        } else {
            world.schedule(after: random.duration(.seconds(1) ... .seconds(60))) { old.goDown() }
        }
        let new = DatabaseServer(world, timeline: old.timeline + 1, content, hasCopy: false)
        servers.append(new)
        observe()
        attachCopy(to: new, after: random.duration(.milliseconds(100) ... .seconds(20)))
        return true
    }

    private func attachCopy(to server: DatabaseServer, after delay: Duration) {
        world.schedule(after: delay) {
            if server.isUp { server.attachCopy() } else { self.attachCopy(to: server, after: .seconds(1)) }
        }
    }

    /// An operator lets no commit wait for the other server, for a time.
    func waitForNoServer(until end: Instant) {
        let server = current
        server.setSynchronous(false)
        world.schedule(at: end) { server.setSynchronous(true) }
    }

    func restart() { current.restart(after: random.duration(.milliseconds(100) ... .seconds(5))) }

    /// Ends all faults; servers that start go on to do so.
    func heal() {
        for server in servers.dropLast() { server.goDown() }
        current.heal()
    }
}

/// The content of one store in a database.
final class DatabaseContent: JournalContent {
    /// It has the store's history, which has this.
    private unowned let database: SimulatedDatabase
    private let store: StoreName

    init(_ database: SimulatedDatabase, _ store: StoreName) { (self.database, self.store) = (database, store) }

    var durability: Durability { .full }
    var hasNodes: Bool { true }
    var written: JournalImage { database.current.written[store]?.image ?? JournalImage() }
    var synced: JournalImage { database.current.durable[store]?.image ?? JournalImage() }
}
