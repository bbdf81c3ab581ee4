import StateCoding
import StateCore
import SyncProtocol

/// A primary, some replicas and some senders, connected by queues with random delays, disconnections and losses.
///
/// Small on purpose: no sockets, no tasks, one clock. Order is random between pipes and kept within each.
struct Cluster {
    let limits: Limits
    private let router = FrameRouter(stores: [Fixture.store()])
    private var generator: SeededGenerator
    private(set) var now = Instant.origin
    private(set) var primary: EngineBench<ModelState>
    /// The actions of the primary's own process.
    private(set) var own: [OwnAction] = []
    /// Whether a middleware refuses actions.
    let refuses: Bool
    /// The previous primaries, each the only one of its lineage.
    private(set) var pastPrimaries: [EngineBench<ModelState>] = []
    private(set) var replicas: [ModelReplica]
    private(set) var pastReplicas: [ModelReplica] = []
    private(set) var senders: [ModelSender]
    /// Frames on connections that senders replaced: the primary may still read them, in order.
    private var strays: [[UInt8]] = []
    /// The events of the primaries.
    private(set) var events: Set<StoreEvent> = []
    private(set) var faults: Set<Fault> = []
    /// The frames that arrived since the last turn, or before it and are not reduced.
    private var arrived: [ActionsFrame] = []
    private var fullUntil = Instant.origin

    init(
        seed: UInt64,
        replicas replicaCount: Int = 3,
        senders senderCount: Int = 3,
        sendersAreSaved: Bool = false,
        limits: Limits
    ) throws {
        var generator = SeededGenerator(seed: seed)
        self.limits = limits
        refuses = seed.isMultiple(of: 2)
        primary = Self.primary(limits, refuses: refuses, at: .origin, using: &generator)
        replicas = (0..<replicaCount).map { _ in ModelReplica(limits: limits, seed: generator.next(), at: .origin) }
        senders = (0..<senderCount).map {
            ModelSender(index: $0, limits: limits, isSaved: sendersAreSaved, seed: generator.next(), at: .origin)
        }
        self.generator = generator
        for index in replicas.indices { try replicas[index].start(at: now) }
        for index in senders.indices { senders[index].start(at: now) }
    }

    private static func primary(
        _ limits: Limits,
        refuses: Bool,
        at now: Instant,
        using generator: inout SeededGenerator
    ) -> EngineBench<ModelState> {
        EngineBench(
            ModelState.program(refuses: refuses),
            history: History(
                lineage: Lineage(using: &generator),
                epoch: Epoch(1),
                // The size is large enough that missed updates are always worth sending.
                summary: Summary(digest: ModelState().digest, bytes: 1 << 20)
            ),
            state: ModelState(),
            limits: limits,
            now: now
        )
    }

    // MARK: One step

    /// Runs one random step, which may be a fault.
    mutating func step(restarts: Bool) throws {
        now = now.advanced(by: .milliseconds(generator.below(15)))
        primary.now = now
        let (replica, sender) = (generator.below(replicas.count), generator.below(senders.count))
        switch generator.below(16) {
        case 0...1: try requests(ofReplica: replica)
        case 2...3: try requests(ofSender: sender)
        case 4...5: try takePushed(sender)
        case 6: for _ in 0...generator.below(3) { endTurn() }
        case 7: publish(primary.commit(1 + generator.below(3)))
        case 8:
            if generator.oneIn(3) { try primary.encodeNext() }
            if generator.oneIn(3) { primary.readNext() }
        case 9...10:
            for _ in 0...generator.below(4) where isRunning(replicas[replica].stoppedUntil) {
                try replicas[replica].receive(at: now)
            }
        case 11...12:
            for _ in 0...generator.below(4) where isRunning(senders[sender].stoppedUntil) {
                try senders[sender].receive(at: now)
            }
        case 13: for _ in 0..<generator.below(3) { senders[sender].submit() }
        case 14: senders[sender].flush(at: now)
        default: if generator.oneIn(2) { try fail(replica: replica, sender: sender, restarts: restarts) }
        }
        if senders[sender].disk != nil { try keep(sender) }
        try tick()
    }

    /// A sender's disk is slow, and the sender restarts from time to time. Its pushed frames may still arrive.
    private mutating func keep(_ sender: Int) throws {
        if generator.oneIn(3), isRunning(senders[sender].stoppedUntil) {
            try senders[sender].write(1 + generator.below(3))
        }
        guard generator.oneIn(60) else { return }
        if generator.oneIn(2) { senders[sender].pushed = [] }
        try dropped(try senders[sender].resume(at: now))
    }

    private mutating func fail(replica: Int, sender: Int, restarts: Bool) throws {
        switch generator.below(18) {
        case 0...1: replicas[replica].link.loseBurst(using: &generator)
        case 2...4: senders[sender].link.loseBurst(using: &generator)
        case 5...6:
            if generator.oneIn(2) { strays += senders[sender].pushed }
            senders[sender].pushed = []
        case 7...8: senders[sender].withdraw()
        case 9: try dropped(replicas[replica].link.reconnect())
        case 10: try dropped(senders[sender].link.reconnect())
        case 11:
            let until = now.advanced(by: .milliseconds(generator.below(8000)))
            if generator.oneIn(2) {
                replicas[replica].stoppedUntil = until
            } else {
                senders[sender].stoppedUntil = until
            }
        case 12: try replace(replica)
        case 13: try takeStray()
        case 14: try requested(Address(Fixture.store(), .receipts(senders[sender].machine.session)).bytes, begins: true)
        case 15: intrude(on: senders[sender].machine.session)
        case 16: if generator.oneIn(3) { fillDisk() }
        default: if restarts, generator.oneIn(6) { restart() }
        }
    }

    /// A replica crashes, and another one replaces it.
    private mutating func replace(_ index: Int) throws {
        let topics = replicas[index].link.reconnect()
        pastReplicas.append(replicas[index])
        replicas[index] = ModelReplica(limits: limits, seed: generator.next(), at: now)
        try replicas[index].start(at: now)
        try dropped(topics)
    }

    /// A foreign peer pushes into a session, with an `opened` that the primary never sent and numbers that are far
    /// ahead.
    private mutating func intrude(on session: SessionID) {
        let frame = ActionsFrame(
            lineage: primary.engine.position.lineage,
            session: session,
            opened: JournalSequence(1 << 40),
            base: ActionNumber(1),
            first: ActionNumber(1 << 30),
            actions: [[]]
        )
        received(frame)
    }

    /// The journal has no room for the records that are not stored.
    private mutating func fillDisk() {
        faults.insert(.fullDisk(rollsBack: !primary.records.isEmpty))
        publish(primary.fill())
        arrived = []
        fullUntil = now.advanced(by: limits.retryDelayMin)
    }

    /// The primary crashes, and one with a new lineage replaces it.
    private mutating func restart() {
        strays = []
        pastPrimaries.append(primary)
        (own, arrived, fullUntil) = ([], [], now)
        primary = Self.primary(limits, refuses: refuses, at: now, using: &generator)
        for index in replicas.indices { _ = replicas[index].link.reconnect() }
        for index in senders.indices {
            _ = senders[index].link.reconnect()
            senders[index].pushed = []
        }
    }

    private func isRunning(_ stoppedUntil: Instant) -> Bool { now >= stoppedUntil }

    private mutating func tick() throws {
        publish(primary.tick(at: now))
        for index in replicas.indices where isRunning(replicas[index].stoppedUntil) {
            try replicas[index].tick(at: now)
        }
        for index in senders.indices where isRunning(senders[index].stoppedUntil) { senders[index].tick(at: now) }
    }

    // MARK: Messages

    private mutating func received(_ frame: ActionsFrame) {
        publish(primary.receive(frame))
        arrived.append(frame)
        if generator.oneIn(2) { act() }
    }

    /// The primary's own process requests an action, or the work of an effect does.
    private mutating func act() {
        let serial = own.count
        let action = ModelAction(sender: ModelAction.itself, serial: serial)
        let id = LocalID(UInt64(serial))
        if generator.oneIn(2), let work = primary.runs.randomElement(using: &generator) {
            primary.send(action, id: id, from: work)
            own.append(OwnAction(action: action, id: id, run: work.run))
        } else if generator.oneIn(2) {
            primary.request(.action(LocalAction(action, id: id, origin: .awaited)))
            own.append(OwnAction(action: action, id: id, run: nil))
        } else {
            primary.request(.action(LocalAction(action, origin: .dispatched)))
            own.append(OwnAction(action: action, id: nil, run: nil))
        }
    }

    /// Takes a turn that is too short for many frames.
    private mutating func endTurn() {
        let budget = TurnBudget(actions: 1 + generator.below(5), bytes: 1 + generator.below(80))
        let before = primary.log.records.count
        publish(primary.turn(budget))
        let records = primary.log.records[before...].map(\.record)
        if records.count > 1 { faults.insert(.halving) }
        // The last frame of the turn was cut, and not by the window.
        if records.count == 1, let run = records[0].runs.last(where: { $0.session != .primary }) {
            let last = run.first.rawValue + UInt64(run.entries.count) - 1
            let isCut = arrived.contains {
                $0.header.session == run.session && $0.numbers.contains(last) && $0.numbers.upperBound > last
            }
            if isCut, primary.engine.hasWork(at: now) { faults.insert(.splitFrame) }
        }
        if !primary.engine.hasWork(at: now) { arrived = [] }
    }

    private mutating func requests(ofReplica index: Int) throws {
        guard let request = replicas[index].link.nextRequest() else { return }
        try requested(request.topic, begins: request.begins)
    }

    private mutating func requests(ofSender index: Int) throws {
        guard let request = senders[index].link.nextRequest() else { return }
        try requested(request.topic, begins: request.begins)
    }

    /// The XPUB reports every subscription, and the last unsubscription of a topic.
    private mutating func requested(_ topic: [UInt8], begins: Bool) throws {
        guard begins || !links.contains(where: { $0.filter.contains(topic) }) else { return }
        guard case .store(_, let topic) = router.subscription(topic[...]) else { throw Unexpected.refused }
        publish(begins ? primary.subscribed(to: topic) : primary.unsubscribed(from: topic))
    }

    private mutating func dropped(_ topics: Set<[UInt8]>) throws {
        for topic in topics.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            try requested(topic, begins: false)
        }
    }

    private mutating func takePushed(_ sender: Int) throws {
        guard !senders[sender].pushed.isEmpty else { return }
        guard case .store(_, let frame) = router.actions(senders[sender].pushed.removeFirst()) else {
            throw Unexpected.refused
        }
        received(frame)
    }

    private mutating func takeStray() throws {
        guard !strays.isEmpty, case .store(_, let frame) = router.actions(strays.removeFirst()) else { return }
        received(frame)
    }

    private mutating func publish(_ answers: [Answer]) {
        for case .count(let event) in answers { events.insert(event) }
        for case .publish(let topic, let frame) in answers {
            let address = Address(Fixture.store(), topic)
            let (bytes, message) = (address.bytes, Message.encode(frame, to: address))
            for index in replicas.indices { replicas[index].link.publish(message, on: bytes) }
            for index in senders.indices { senders[index].link.publish(message, on: bytes) }
        }
    }

    private var links: [Link] { replicas.map(\.link) + senders.map(\.link) }

    enum Unexpected: Error { case refused }

    // MARK: Quiescence

    /// Runs without faults and new actions until the cluster is quiescent.
    ///
    /// - Returns: `false` if that needs more than three virtual minutes.
    mutating func quiesce() throws -> Bool {
        for index in replicas.indices { replicas[index].stoppedUntil = now }
        for index in senders.indices { senders[index].stoppedUntil = now }
        let deadline = now.advanced(by: .seconds(180))
        while now < deadline {
            now = now.advanced(by: .milliseconds(100))
            primary.now = now
            while !strays.isEmpty { try takeStray() }
            for index in replicas.indices { while replicas[index].link.hasRequests { try requests(ofReplica: index) } }
            for index in senders.indices {
                while senders[index].link.hasRequests { try requests(ofSender: index) }
                senders[index].flush(at: now)
                try senders[index].write(.max)
                while !senders[index].pushed.isEmpty { try takePushed(index) }
            }
            endTurn()
            publish(primary.commit())
            try primary.encodeNext()
            primary.readNext()
            for index in replicas.indices {
                while !replicas[index].link.messages.isEmpty { try replicas[index].receive(at: now) }
            }
            for index in senders.indices {
                while !senders[index].link.messages.isEmpty { try senders[index].receive(at: now) }
            }
            try tick()
            if isAtRest { return true }
        }
        return false
    }

    private var isAtRest: Bool {
        isQuiet
            && senders.allSatisfy {
                $0.machine.pendingCount == 0 && $0.isWritten && $0.pushed.isEmpty && $0.link.wanted.count == 1
            }
            && replicas.allSatisfy { $0.status == .live && $0.machine.position?.revision == primary.head }
    }

    private var isQuiet: Bool {
        primary.records.isEmpty && primary.encodings.isEmpty && primary.reads.isEmpty && !primary.hasWork
            && now > fullUntil
    }

    /// An action of the primary's own process.
    struct OwnAction {
        let action: ModelAction
        /// Under which its outcome is reported; `nil` if nothing awaits it.
        let id: LocalID?
        /// The work that sent it.
        let run: UInt64?
    }

    /// The number of own actions that were dropped because their effect was cancelled.
    var cancelledCount: Int {
        primary.log.answers.values.count {
            if case .rejected(let reason) = $0 { reason.code == .stopped } else { false }
        }
    }

    /// What befell an engine.
    enum Fault: Hashable {
        case splitFrame
        case halving
        case fullDisk(rollsBack: Bool)
    }
}
