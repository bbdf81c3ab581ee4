import StateCoding
import SyncProtocol

/// A replica with its document. It records violations.
struct ModelReplica {
    private(set) var machine: ReplicaMachine
    var link = Link()
    private(set) var status = ReplicaStatus.joining
    private(set) var document: Value?
    /// The shown positions, in order.
    private(set) var shown: [Position] = []
    /// The digests of the shown states.
    private(set) var digests: [UInt64] = []
    private(set) var violations: [String] = []
    private(set) var events: Set<ReplicaEvent> = []
    var generator: SeededGenerator
    var stoppedUntil = Instant.origin

    init(limits: Limits, seed: UInt64, at now: Instant) {
        machine = ReplicaMachine(limits: limits, now: now)
        generator = SeededGenerator(seed: seed)
    }

    mutating func start(at now: Instant) throws { try perform(machine.start(at: now, using: &generator)) }
    mutating func tick(at now: Instant) throws { try perform(machine.tick(at: now, using: &generator)) }

    mutating func receive(at now: Instant) throws {
        guard let message = link.nextMessage() else { return }
        let (address, frame) = try Message.decode(message)
        try perform(machine.received(frame, on: address.topic, at: now, using: &generator))
    }

    private mutating func perform(_ directives: [ReplicaDirective]) throws {
        for directive in directives {
            switch directive {
            case .subscribe(let topic):
                let bytes = Address(Fixture.store(), topic).bytes
                if link.wanted[bytes] != nil { violations.append("subscribed twice to \(topic)") }
                link.subscribe(bytes)
            case .unsubscribe(let topic):
                let bytes = Address(Fixture.store(), topic).bytes
                if link.wanted[bytes] == nil { violations.append("unsubscribed from \(topic) without a subscription") }
                link.unsubscribe(bytes)
            case .install(let snapshot, let position, let digest):
                var reader = CBORReader(snapshot)
                try show(try reader.value(), at: position)
                verify(position, digest)
            case .apply(let patch, let position):
                guard var value = document else {
                    violations.append("a patch to \(position) without a snapshot")
                    continue
                }
                try Patch(decoding: patch).apply(to: &value)
                try show(value, at: position)
            case .verify(let position, let digest): verify(position, digest)
            case .status(let status): self.status = status
            case .count(let event): events.insert(event)
            case .time: break
            }
        }
    }

    private mutating func show(_ value: Value, at position: Position) throws {
        if let last = shown.last, last.lineage == position.lineage, last.revision > position.revision {
            violations.append("went back from \(last) to \(position)")
        }
        document = value
        shown.append(position)
        digests.append(Summary(of: value).digest)
    }

    private mutating func verify(_ position: Position, _ digest: UInt64) {
        guard shown.last == position || shown.last?.revision == position.revision, digests.last == digest else {
            violations.append("at \(position) the document differs from the primary's state")
            return
        }
        machine.confirmed(at: position)
    }
}
