import StatecastCore
import StatecastProtocol

/// A replica's machine with a manual clock, and its subscriptions.
struct ReplicaBench {
    var machine: ReplicaMachine
    var now = Instant.origin
    private var generator: SeededGenerator
    /// The subscriptions in order. A second subscription to a topic is a second entry.
    private(set) var subscriptions: [Topic] = []
    private(set) var nonces: [Nonce] = []
    private(set) var statuses: [ReplicaStatus] = []
    /// When the connection was replaced.
    private(set) var reconnections: [Instant] = []

    init(_ limits: Limits = Limits(), seed: UInt64 = 1) {
        generator = SeededGenerator(seed: seed)
        machine = ReplicaMachine(limits: limits, now: .origin)
        note(machine.start(at: now, using: &generator))
    }

    private mutating func note(_ directives: [ReplicaDirective]) {
        for directive in directives {
            switch directive {
            case .subscribe(let topic):
                subscriptions.append(topic)
                if case .join(let nonce, _) = topic { nonces.append(nonce) }
            case .unsubscribe(let topic):
                let index = subscriptions.firstIndex(of: topic)
                precondition(index != nil, "\(topic) was not subscribed to")
                if let index { subscriptions.remove(at: index) }
            case .reconnect:
                subscriptions = []
                reconnections.append(now)
            case .status(let status): statuses.append(status)
            default: break
            }
        }
    }

    @discardableResult
    mutating func receive(_ frame: Frame, on topic: Topic = .feed) -> [ReplicaDirective] {
        let directives = machine.received(frame, on: topic, at: now, using: &generator)
        note(directives)
        return directives
    }

    @discardableResult
    mutating func receive(_ update: Update, on topic: Topic = .feed) -> [ReplicaDirective] {
        receive(.update(update), on: topic)
    }

    /// Receives a message on the topic of the pending join.
    @discardableResult
    mutating func answer(_ frame: Frame) -> [ReplicaDirective] { receive(frame, on: joinTopic ?? .feed) }

    @discardableResult
    mutating func welcome(
        head: UInt64,
        offer: Welcome.Offer? = nil,
        epoch: Epoch = Fixture.epoch,
        lineage: Lineage = Fixture.lineage
    ) -> [ReplicaDirective] {
        let welcome = Welcome(
            lineage: lineage,
            epoch: epoch,
            head: Revision(head),
            time: Fixture.time,
            stateVersion: 99,
            heartbeatInterval: .seconds(1),
            offer: offer
        )
        return answer(.welcome(welcome))
    }

    @discardableResult
    mutating func heartbeat(
        head: UInt64,
        epoch: Epoch = Fixture.epoch,
        lineage: Lineage = Fixture.lineage
    ) -> [ReplicaDirective] {
        receive(
            .heartbeat(
                Heartbeat(lineage: lineage, epoch: epoch, head: Revision(head), digest: head, time: Fixture.time)
            )
        )
    }

    @discardableResult
    mutating func chunk(
        _ index: UInt32,
        _ bytes: [UInt8],
        of revision: UInt64,
        lineage: Lineage = Fixture.lineage
    ) -> [ReplicaDirective] {
        receive(.chunk(Chunk(bytes: bytes[...])), on: .snapshot(lineage, Revision(revision), index: index))
    }

    /// Advances the clock to the next deadline.
    @discardableResult
    mutating func wait() -> [ReplicaDirective] {
        wait(until: max(now, machine.nextDeadline))
    }

    @discardableResult
    mutating func wait(until moment: Instant) -> [ReplicaDirective] {
        now = moment
        let directives = machine.tick(at: now, using: &generator)
        note(directives)
        return directives
    }

    @discardableResult
    mutating func fail(at position: Position) -> [ReplicaDirective] {
        let reason = Rejection(.incompatible, "it does not fit")
        let directives = machine.failed(at: position, reason, now: now, using: &generator)
        note(directives)
        return directives
    }

    /// Joins from nothing with a snapshot of one chunk.
    mutating func install(at revision: UInt64, epoch: Epoch = Fixture.epoch, lineage: Lineage = Fixture.lineage) {
        welcome(head: revision, offer: Self.offer(revision, bytes: 1, chunk: 1), epoch: epoch, lineage: lineage)
        chunk(0, [1], of: revision, lineage: lineage)
    }

    /// A replica that follows at a revision.
    static func live(at revision: UInt64, _ limits: Limits = Limits(), seed: UInt64 = 1) -> ReplicaBench {
        var bench = ReplicaBench(limits, seed: seed)
        bench.install(at: revision)
        return bench
    }

    static func offer(_ revision: UInt64, bytes: Int, chunk: Int) -> Welcome.Offer {
        Welcome.Offer(revision: Revision(revision), bytes: bytes, chunkBytes: chunk, digest: revision)
    }

    var joinTopic: Topic? { subscriptions.first { if case .join = $0 { true } else { false } } }
    /// The position in the pending join.
    var joinsFrom: Position?? {
        guard case .join(_, let position)? = joinTopic else { return nil }
        return .some(position)
    }
    var chunksAsked: [UInt32] {
        subscriptions.compactMap { if case .snapshot(_, _, let index) = $0 { index } else { nil } }
    }
    var status: ReplicaStatus? { statuses.last }
}

extension [ReplicaDirective] {
    /// The revisions that are applied, in order.
    var applied: [UInt64] {
        compactMap { if case .apply(_, let position) = $0 { position.revision.rawValue } else { nil } }
    }
    var installed: [UInt64] {
        compactMap { if case .install(_, let position, _) = $0 { position.revision.rawValue } else { nil } }
    }
    var verified: [UInt64] {
        compactMap { if case .verify(let position, _) = $0 { position.revision.rawValue } else { nil } }
    }
}
