import StateCoding
import SyncProtocol

/// A primary, some replicas and some senders, connected by queues with random delays, disconnections and losses.
///
/// Small on purpose: no sockets, no tasks, one clock. Order is random between pipes and kept within each.
struct Cluster {
    let limits: Limits
    private let router = FrameRouter(stores: [Fixture.store()])
    private var generator: SeededGenerator
    private(set) var now = Instant.origin
    private(set) var primary: ModelPrimary
    /// The previous primaries, each the only one of its lineage.
    private(set) var pastPrimaries: [ModelPrimary] = []
    private(set) var replicas: [ModelReplica]
    private(set) var pastReplicas: [ModelReplica] = []
    private(set) var senders: [ModelSender]
    /// Frames on connections that senders replaced: the primary may still read them, in order.
    private var strays: [[UInt8]] = []
    /// The events of the primaries.
    private(set) var events: Set<PrimaryEvent> = []

    init(
        seed: UInt64,
        replicas replicaCount: Int = 3,
        senders senderCount: Int = 3,
        sendersAreSaved: Bool = false,
        limits: Limits
    ) throws {
        var generator = SeededGenerator(seed: seed)
        self.limits = limits
        primary = Self.primary(limits, at: .origin, using: &generator)
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
        at now: Instant,
        using generator: inout SeededGenerator
    ) -> ModelPrimary {
        ModelPrimary(
            PrimaryMachine(
                store: Fixture.store(),
                history: History(
                    lineage: Lineage(using: &generator),
                    epoch: Epoch(1),
                    summary: ModelPrimary.summary(of: .map([:]))
                ),
                stateVersion: 0,
                actions: [],
                actionsEndpoint: Fixture.endpoint,
                limits: limits,
                now: now
            )
        )
    }

    // MARK: One step

    /// Runs one random step, which may be a fault.
    mutating func step(restarts: Bool) throws {
        now = now.advanced(by: .milliseconds(generator.below(15)))
        let (replica, sender) = (generator.below(replicas.count), generator.below(senders.count))
        switch generator.below(16) {
        case 0...1: try requests(ofReplica: replica)
        case 2...3: try requests(ofSender: sender)
        case 4...5: try takePushed(sender)
        case 6: endTurn()
        case 7: publish(primary.commit(1 + generator.below(3), at: now))
        case 8: if generator.oneIn(3) { primary.finishSnapshot(at: now) }
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
        switch generator.below(17) {
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
        case 15: try intrude(on: senders[sender].machine.session)
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
    private mutating func intrude(on session: SessionID) throws {
        let frame = ActionsFrame(
            lineage: primary.machine.lineage,
            session: session,
            opened: JournalSequence(1 << 40),
            base: ActionNumber(1),
            first: ActionNumber(1 << 30),
            actions: [[]]
        )
        publish(try primary.received(frame))
    }

    /// The primary crashes, and one with a new lineage replaces it.
    private mutating func restart() {
        strays = []
        pastPrimaries.append(primary)
        primary = Self.primary(limits, at: now, using: &generator)
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

    private mutating func endTurn() {
        publish(primary.endTurn(reopens: generator.oneIn(6), at: now))
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
        publish(primary.requested(topic, begins: begins))
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
        publish(try primary.received(frame))
    }

    private mutating func takeStray() throws {
        guard !strays.isEmpty, case .store(_, let frame) = router.actions(strays.removeFirst()) else { return }
        publish(try primary.received(frame))
    }

    private mutating func publish(_ directives: [PrimaryDirective]) {
        for case .count(let event) in directives { events.insert(event) }
        for case .publish(let topic, let frame) in directives {
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
            while !strays.isEmpty { try takeStray() }
            for index in replicas.indices { while replicas[index].link.hasRequests { try requests(ofReplica: index) } }
            for index in senders.indices {
                while senders[index].link.hasRequests { try requests(ofSender: index) }
                senders[index].flush(at: now)
                try senders[index].write(.max)
                while !senders[index].pushed.isEmpty { try takePushed(index) }
            }
            endTurn()
            publish(primary.commit(.max, at: now))
            primary.finishSnapshot(at: now)
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
        primary.isQuiet
            && senders.allSatisfy {
                $0.machine.pendingCount == 0 && $0.isWritten && $0.pushed.isEmpty && $0.link.wanted.count == 1
            }
            && replicas.allSatisfy { $0.status == .live && $0.machine.position?.revision == primary.machine.head }
    }
}
