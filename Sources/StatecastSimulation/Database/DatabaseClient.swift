import StatecastJournal
import StatecastProtocol
import StatecastThreading

/// A process's connections to a simulated database, with the limits and the reading of replies of `PostgresDatabase`.
///
/// Unchecked, but safe: see ``World``.
final class DatabaseClient: SharedDatabase, @unchecked Sendable {
    private enum Use: Hashable {
        case leadership, reading, snapshots
        case commits(StoreName)

        var limit: Duration { self == .snapshots || self == .reading ? .seconds(10) : CommitTimes().limit }
    }

    private let database: SimulatedDatabase
    private let process: Process
    private let path: Path
    private var world: World { process.world }
    private var random: SplitMix64
    /// A connection stays with its server.
    private var servers: [Use: DatabaseServer] = [:]
    /// The number of replies that are lost.
    var lostReplies = 0
    /// When the last confirmed claim or commit was sent, on the process's clock.
    private(set) var lastConfirmedSent = Instant.origin

    init(_ database: SimulatedDatabase, of process: Process, _ path: Path) {
        (self.database, self.process, self.path) = (database, process, path)
        random = process.world.random.split()
    }

    var description: String { "simulated" }

    // MARK: Calls

    /// A call on its way to a server and back.
    private final class Call<Answer> {
        private let server: DatabaseServer
        private let send: (DatabaseServer, @escaping (Answer) -> Void) -> Void
        /// Called when the server has answered, with the answer.
        var onReply: (Answer) -> Void = { _ in }
        /// Called with the answer when it has arrived; `nil`: none has come in time, or the connection is lost.
        var onEnd: (Answer?) -> Void = { _ in }
        private var reply: Answer?
        private var isSent = false

        init(_ server: DatabaseServer, _ send: @escaping (DatabaseServer, @escaping (Answer) -> Void) -> Void) {
            (self.server, self.send) = (server, send)
        }

        /// It arrives at the server, which executes it even if the caller has given up.
        func arrive() {
            guard !isSent else { return }
            isSent = true
            send(server) { [self] answer in
                reply = answer
                onReply(answer)
            }
        }

        /// Delivers it and the reply without that virtual time passes.
        func completeNow() {
            arrive()
            server.flush()
            onEnd(reply)
        }
    }

    /// Sends something to a server, and waits for the answer.
    ///
    /// - Parameter send: receives the server, and what sends its answer.
    /// - Returns: `nil` if the connection is lost, or if no answer has come in time.
    private func call<Answer>(
        _ use: Use,
        _ send: @escaping (DatabaseServer, @escaping (Answer) -> Void) -> Void
    ) -> Answer? {
        guard process.isAlive else { return nil }
        let isNew = servers[use]?.isUp != true
        guard let server = isNew ? database.server() : servers[use] else {
            pause(.milliseconds(100))
            return nil
        }
        if isNew { pause(random.duration(.milliseconds(1) ... .milliseconds(100))) }
        servers[use] = server
        let call = Call(server, send)
        guard let job = world.blockingJob else {
            var answer: Answer?
            call.onEnd = { answer = $0 }
            call.completeNow()
            return answer
        }
        let answer: Answer? = job.wait(orNow: call.completeNow) { [self] answer in
            call.onEnd = answer
            // The server keeps the call until it has answered.
            call.onReply = { [self, weak call] reply in
                guard let call else { return }
                if lostReplies > 0 {
                    lostReplies -= 1
                    world.count(.databaseReplyLost)
                    return process.schedule(after: .milliseconds(1)) { call.onEnd(nil) }
                }
                process.schedule(at: path.arrival(.down, from: world.now)) { call.onEnd(reply) }
            }
            world.schedule(at: path.arrival(.up, from: world.now)) { call.arrive() }
            process.schedule(after: use.limit) { call.onEnd(nil) }
        }
        if answer == nil { servers[use] = nil }
        return answer
    }

    private func pause(_ time: Duration) {
        world.blockingJob?.wait { [process] end in process.schedule(after: time, end) }
    }

    /// Executes a request outside the transactions of stores.
    private func perform<Answer>(
        _ use: Use,
        _ body: @escaping (DatabaseServer) -> Answer
    ) throws(JournalFailure) -> Answer {
        let answer: Answer? = call(use) { server, answer in if server.isUp { answer(body(server)) } }
        guard let answer else { throw JournalFailure(.inputOutput, "the database did not answer") }
        return answer
    }

    private func write(
        _ use: Use,
        _ stores: [StoreName],
        _ change: @escaping (DatabaseServer, inout DatabaseServer.Content) -> Int
    ) -> StatementAnswer {
        call(use) { server, answer in
            server.write(stores, { change(server, &$0) }, answer: answer)
        } ?? .lost
    }

    // MARK: Leadership

    func leaders(of stores: [StoreName]) throws(JournalFailure) -> [LeaderRow] {
        try perform(.leadership) { server in
            stores.compactMap { store in
                guard let content = server.visible[store] else { return nil }
                var row = content.row
                row.head = content.image.last
                row.isSameTimeline = content.timeline == server.timeline
                row.isConnected = content.process?.isAlive == true
                return row
            }
        }
    }

    func claim(
        _ stores: [StoreName],
        above floors: [Epoch],
        _ claim: LeaderClaim
    ) throws(JournalFailure) -> [Epoch]? {
        var terms: [Epoch] = []
        let start = process.now
        let answer = write(.leadership, stores) { [process] server, content in
            terms = []
            for (index, store) in stores.enumerated() {
                guard var stored = content[store], stored.row.term == claim.seen[index].term,
                    stored.row.beat == claim.seen[index].beat,
                    stored.row.isSynchronous || stored.timeline == server.timeline
                else { return 0 }
                stored.row.term = max(stored.row.term, floors[index]).next
                stored.row.beat += 1
                (stored.row.isResigned, stored.row.heir, stored.row.holder) = (false, nil, claim.holder)
                (stored.row.endpoint, stored.row.isSynchronous) = (claim.endpoint, server.isSynchronous)
                (stored.timeline, stored.process) = (server.timeline, process)
                content[store] = stored
                terms.append(stored.row.term)
            }
            return stores.count
        }
        switch answer {
        case .done(rows: 0, _), .failed(state: "55P03", _): return nil
        case .done(_, warning: nil):
            lastConfirmedSent = start
            return terms
        case .done, .failed: throw JournalFailure(.unknown, "the outcome of a claim is unknown")
        }
    }

    func standBy(_ node: NodeID, for stores: [StoreName], heads: [JournalSequence]) throws(JournalFailure) {
        try perform(.leadership) { [database] _ in database.standBy(node, heads[0]) }
    }

    func standby(
        of store: StoreName,
        within duration: Duration,
        besides node: NodeID
    ) throws(JournalFailure) -> NodeID? {
        try perform(.leadership) { [database] _ in database.standby(within: duration, besides: node) }
    }

    // MARK: Commits

    private static func isInEffect(_ fence: Fence, _ content: StoredContent) -> Bool {
        content.row.term == fence.term && content.row.holder == fence.holder
    }

    /// Changes one store under a claim.
    ///
    /// - Parameter change: returns whether its own condition is met.
    private func write(
        _ use: Use,
        _ store: StoreName,
        by fence: Fence,
        _ change: @escaping (DatabaseServer, inout StoredContent) -> Bool
    ) -> StatementAnswer {
        write(use, [store]) { server, content in
            guard var stored = content[store], Self.isInEffect(fence, stored), stored.timeline == server.timeline,
                change(server, &stored)
            else { return 0 }
            content[store] = stored
            return 1
        }
    }

    /// Commits a change of one store under a claim, if `last` is its last record.
    private func commit(
        _ store: StoreName,
        at last: JournalSequence,
        by fence: Fence,
        _ change: @escaping (DatabaseServer, inout StoredContent) -> Bool
    ) -> CommitReply {
        let start = process.now
        let answer = write(.commits(store), store, by: fence) { $1.image.last == last && change($0, &$1) }
        let reply = CommitReply(answer, after: start.duration(to: process.now), expecting: 1, late: CommitTimes().late)
        if reply == .confirmed { lastConfirmedSent = max(lastConfirmedSent, start) }
        return reply
    }

    /// A store that was claimed while commits wait is written only while they do.
    private static func isSynchronous(_ server: DatabaseServer, _ content: StoredContent) -> Bool {
        !content.row.isSynchronous || server.isSynchronous
    }

    func append(
        _ records: [JournalRecord],
        to store: StoreName,
        after last: JournalSequence,
        by fence: Fence
    ) -> CommitReply {
        // The process may end before the commit, or between the commit and what follows from it.
        guard process.canOutput() else { return .refused }
        let reply = commit(store, at: last, by: fence) { server, content in
            guard Self.isSynchronous(server, content) else { return false }
            content.image.append(records)
            return true
        }
        return process.canOutput() ? reply : .refused
    }

    func start(
        _ epoch: EpochStart,
        of store: StoreName,
        after last: JournalSequence,
        by fence: Fence
    ) -> CommitReply {
        commit(store, at: last, by: fence) { [world, process] server, content in
            guard Self.isSynchronous(server, content), content.image.epochs.last.map({ $0.epoch < epoch.epoch }) ?? true
            else { return false }
            world.require(
                epoch.epoch == fence.term,
                .recoveredWasPublished,
                "\(process.name) begins epoch \(epoch.epoch), and has claimed term \(fence.term)"
            )
            content.image.claim(epoch)
            return true
        }
    }

    func renew(
        _ store: StoreName,
        at last: JournalSequence,
        settled: JournalSequence,
        by fence: Fence,
        resigning: Resignation?
    ) -> CommitReply {
        // After the end of the process, any answer that is final ends the repetitions of a commit.
        guard process.isAlive else { return .confirmed }
        return commit(store, at: last, by: fence) { [process] server, content in
            guard !content.row.isResigned else { return false }
            content.row.beat += 1
            content.process = process
            content.row.settled = max(content.row.settled, settled)
            content.row.isSynchronous = server.isSynchronous
            (content.row.isResigned, content.row.heir) = (resigning != nil, resigning?.heir)
            return true
        }
    }

    // MARK: Content

    private func image(of store: StoreName) throws(JournalFailure) -> JournalImage {
        try perform(.reading) { $0.visible[store]?.image ?? JournalImage() }
    }

    func contents(of store: StoreName, by fence: Fence?) throws(JournalFailure) -> SharedContents? {
        try perform(.reading) { server in
            guard let content = server.visible[store], fence.map({ Self.isInEffect($0, content) }) ?? true else {
                return nil
            }
            return content.image.contents.map { SharedContents($0, first: JournalSequence(0)) }
        }
    }

    func records(
        of store: StoreName,
        after sequence: JournalSequence,
        maxBytes: Int,
        by fence: Fence?
    ) throws(JournalFailure) -> [JournalRecord] {
        let content = try perform(.reading) { $0.visible[store] }
        guard let content, fence.map({ Self.isInEffect($0, content) }) ?? true else { return [] }
        return try content.image.records(after: sequence, maxBytes: maxBytes)
    }

    func snapshots(of store: StoreName) throws(JournalFailure) -> [SnapshotEntry] { try image(of: store).snapshots }

    func snapshot(_ entry: SnapshotEntry, of store: StoreName) throws(JournalFailure) -> JournalSnapshot {
        try image(of: store).snapshot(entry)
    }

    // MARK: Snapshots

    private func change(
        _ store: StoreName,
        by fence: Fence,
        _ change: @escaping (inout JournalImage) -> Void
    ) throws(JournalFailure) {
        let answer = write(.snapshots, store, by: fence) { server, content in
            guard Self.isSynchronous(server, content) else { return false }
            change(&content.image)
            return true
        }
        guard case .done(rows: 1, _) = answer else { throw JournalFailure(.inputOutput, "the snapshot was not stored") }
    }

    func store(
        _ snapshot: JournalSnapshot,
        as kind: SnapshotKind,
        of store: StoreName,
        by fence: Fence
    ) throws(JournalFailure) {
        try change(store, by: fence) { $0.store(snapshot, as: kind) }
    }

    func prune(_ store: StoreName, keeping historyBytes: Int, by fence: Fence) throws(JournalFailure) {
        try change(store, by: fence) { $0.prune(keeping: historyBytes) }
    }

    // MARK: Actions that ended a process

    func add(_ crashes: [CrashMarker.Crashes], of store: StoreName) throws(JournalFailure) {
        try perform(.leadership) { [database] _ in database.add(crashes, of: store) }
    }

    func crashes(of store: StoreName) throws(JournalFailure) -> [CrashMarker.Crashes] {
        try perform(.leadership) { [database] _ in database.crashes(of: store) }
    }

    func removeCrashes(of session: SessionID, _ number: ActionNumber, of store: StoreName) throws(JournalFailure) {
        try perform(.snapshots) { [database] _ in database.remove(session, number, of: store) }
    }

    func close(_ store: StoreName) {}
}
