import Statecast
import StatecastCoding
import StatecastCore
import StatecastProtocol
import StatecastThreading

/// A replica, with the production code of its machine and its document.
final class SimulatedReplica {
    private let world: World
    let name: String
    let store: SimulatedStore
    /// The build of the store whose types it has.
    let build: SimulatedStore.Build
    private let limits: Limits
    private let network: Network
    let host: Host
    private(set) var process: Process
    private(set) var machine: ReplicaMachine
    private(set) var socket: Subscriber!
    private var document: any ShownDocument
    private var loop: Loop!
    private var random: SplitMix64
    private var steps: [DocumentStep] = []
    private var stepBytes = 0
    private var isProcessing = false
    private(set) var status = ReplicaStatus.joining
    private(set) var position: Position?
    private(set) var digest: UInt64?
    /// What its machine counted, and when.
    private(set) var events: [(time: Instant, event: ReplicaEvent)] = []
    /// Whether it has reported that it goes back, and does not show it yet.
    private var hasReportedRewind = false
    /// Set when a hostile primary begins to serve: the time at which it ends. The replica may show its state for
    /// longer, so the value stays until a state is shown after that time that the true primary published. Then it is
    /// `nil` again.
    var hostileUntil: Instant?

    private static let maxMessagesPerTurn = 512

    init(_ name: String, of store: SimulatedStore, _ world: World, _ network: Network, on host: Host, limits: Limits) {
        (self.name, self.store, self.world, self.network) = (name, store, world, network)
        (self.host, self.limits, build) = (host, limits, store.build)
        random = world.random.split()
        process = Process(name, on: host, in: world)
        machine = ReplicaMachine(limits: limits, now: process.now)
        document = Self.document(of: store, typed: random.oneIn(2), maxBytes: limits.maxSnapshotBytes)
    }

    private static func document(of store: SimulatedStore, typed: Bool, maxBytes: Int) -> any ShownDocument {
        func document<State: SimulatedState>(of _: State.Type) -> any ShownDocument {
            DigestedDocument(document: Document(TypedContent<State>(), maxBytes: maxBytes)) { state in
                do { return try Summary(ofEncoded: StateEncoder().encode(state)).digest } catch {
                    preconditionFailure("a decoded state cannot be encoded: \(error)")
                }
            }
        }
        guard typed else {
            return DigestedDocument(document: Document(UntypedContent(), maxBytes: maxBytes)) { Summary(of: $0).digest }
        }
        return document(of: store.build.type)
    }

    func start() {
        loop = Loop(of: process) { [weak self] in self?.poll() }
        connect()
        perform(machine.start(at: process.now, using: &random))
        loop.wake(atLocal: machine.nextDeadline)
    }

    private func connect() {
        socket = Subscriber(
            of: process,
            network,
            node: name,
            user: name,
            to: SimulatedPrimary.endpoint
        ) { [weak self] in self?.loop.wake(at: $0) }
    }

    /// The process ends.
    func end() {
        process.end()
        socket.close()
    }

    // MARK: Events

    private var isFull: Bool { stepBytes >= limits.maxBacklogBytes }

    private func poll() {
        for _ in 0..<Self.maxMessagesPerTurn where !isFull {
            guard let message = socket.next() else { break }
            received(message)
        }
        if isFull { machine.heard(at: process.now) }
        if process.now >= machine.nextDeadline { world.coverage.note(machine.phaseName, .tick) }
        perform(machine.tick(at: process.now, using: &random))
        loop.wake(atLocal: machine.nextDeadline)
        if !isFull, let arrival = socket.nextArrival { loop.wake(at: arrival) }
    }

    private func received(_ message: [UInt8]) {
        guard let (address, frame) = try? Message.decode(message), address.store == store.name else {
            if hostileUntil != nil { return machine.heard(at: process.now) }
            return world.violated(.messagesAreReadable, "\(name) received an unreadable message")
        }
        world.coverage.note(machine.phaseName, frame)
        perform(machine.received(frame, on: address.topic, at: process.now, using: &random))
        world.require(
            machine.backlogBytes <= limits.maxBacklogBytes,
            .limitsHold,
            "\(name) buffers \(machine.backlogBytes) bytes, at most \(limits.maxBacklogBytes) are allowed"
        )
    }

    private func perform(_ directives: [ReplicaDirective]) {
        for directive in directives {
            switch directive {
            case .subscribe(let topic):
                if case .join = topic {
                    world.require(
                        socket.wanted[Address(store.name, .feed).bytes] != nil,
                        .subscriptionsMatch,
                        "\(name) joins before it subscribes to the feed"
                    )
                }
                socket.subscribe(Address(store.name, topic).bytes)
            case .unsubscribe(let topic):
                socket.unsubscribe(Address(store.name, topic).bytes)
            case .reconnect:
                socket.replace(noticedAfter: random.duration(.zero ... .seconds(30)))
                connect()
            case .install(let snapshot, let position, let digest):
                enqueue(.install(snapshot: snapshot, position, digest: digest))
            case .apply(let patch, let position): enqueue(.apply(patch: patch, position))
            case .verify(let position, let digest): enqueue(.verify(position, digest: digest))
            case .status(let status): enqueue(.status(status))
            case .count(let event):
                events.append((world.now, event))
                if event == .rewound { hasReportedRewind = true }
            case .time: break
            }
        }
    }

    // MARK: Document

    private func enqueue(_ step: DocumentStep) {
        steps.append(step)
        stepBytes += step.bytes
        guard !isProcessing else { return }
        isProcessing = true
        process.schedule(after: random.duration(.microseconds(10) ... .milliseconds(random.oneIn(20) ? 300 : 1))) {
            [weak self] in self?.processSteps()
        }
    }

    private func processSteps() {
        let batch = steps
        (steps, stepBytes, isProcessing) = ([], 0, false)
        let outcome = document.show(batch)
        if let verification = outcome.verification {
            process.schedule(after: random.duration(.microseconds(50) ... .seconds(1))) { [weak self] in
                self?.enqueue(verification.run())
            }
        }
        if let (position, digest) = outcome.shown { showed(position, digest) }
        if let failure = outcome.failure {
            world.note("\(name) document failed at \(failure.position): \(failure.reason)")
            world.coverage.note(machine.phaseName, .documentFailed)
            perform(machine.failed(at: failure.position, failure.reason, now: process.now, using: &random))
            loop.wake(atLocal: machine.nextDeadline)
        }
        for status in outcome.statuses {
            world.note("\(name) is \(status)")
            self.status = status
        }
        if let confirmed = outcome.confirmed {
            world.coverage.note(machine.phaseName, .documentConfirmed)
            machine.confirmed(at: confirmed)
        }
        loop.wake()
    }

    private func showed(_ position: Position, _ digest: UInt64) {
        world.note("\(name) shows \(position)")
        if let last = self.position, last.lineage == position.lineage {
            world.require(
                last.epoch <= position.epoch,
                .positionsRise,
                "\(name) goes back from \(last) to \(position), an earlier incarnation"
            )
            if position.revision < last.revision, hostileUntil == nil {
                world.require(
                    last.epoch < position.epoch && hasReportedRewind,
                    .positionsRise,
                    "\(name) goes back from \(last) to \(position), and reports no rewind"
                )
                hasReportedRewind = false
            }
        }
        (self.position, self.digest) = (position, digest)
        if let until = hostileUntil {
            if world.now >= until, !socket.hasUnread, store.history.wasPublished(digest, at: position) {
                hostileUntil = nil
            }
        } else {
            store.history.shown(position, digest: digest, by: name)
        }
    }
}

/// A document of any type, and the digests of what it shows.
private protocol ShownDocument {
    mutating func show(_ steps: [DocumentStep]) -> Shown
}

/// What a batch of steps led to.
private struct Shown {
    var shown: (Position, UInt64)?
    let statuses: [ReplicaStatus]
    let failure: DocumentFailure?
    let confirmed: Position?
    let verification: DocumentVerification?

    init<State>(_ outcome: DocumentOutcome<State>, digest: (State) -> UInt64) {
        shown = outcome.shown.map { ($0.position, digest($0.state)) }
        (statuses, failure) = (outcome.statuses, outcome.failure)
        (confirmed, verification) = (outcome.confirmed, outcome.verification)
    }
}

private struct DigestedDocument<State: Sendable>: ShownDocument {
    var document: Document<State>
    let digest: (State) -> UInt64

    mutating func show(_ steps: [DocumentStep]) -> Shown { Shown(document.process(steps), digest: digest) }
}
