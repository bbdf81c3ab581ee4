import Statecast
import StatecastCoding
import StatecastProtocol
import StatecastThreading

/// The process of a replica, with the production code of its driver and its document.
final class ReplicaProcess {
    private let world: World
    let name: String
    let store: SimulatedStore
    /// The build of the store whose types it has.
    let build: SimulatedStore.Build
    private let limits: Limits
    let host: Host
    let process: Process
    let socket: Subscriber
    private let driver: ReplicaDriver
    private let output: ReplicaOutput
    private var document: any ShownDocument
    private var random: SplitMix64
    private var isProcessing = false
    private(set) var status = ReplicaStatus.joining
    private(set) var position: Position?
    private(set) var digest: UInt64?
    /// What its machine counted, and when.
    private(set) var events: [(time: Instant, event: ReplicaEvent)] = []
    /// Whether it has reported that it goes back, and does not show it yet.
    private var hasReportedRewind = false

    init(
        _ name: String,
        of store: SimulatedStore,
        _ world: World,
        _ network: Network,
        on host: Host,
        limits: Limits,
        from endpoints: [String]
    ) {
        (self.name, self.store, self.world) = (name, store, world)
        (self.host, self.limits, build) = (host, limits, store.build)
        random = world.random.split()
        process = Process(name, on: host, in: world)
        socket = Subscriber(of: process, network, node: name, user: name, of: store.name, to: endpoints)
        output = ReplicaOutput(store.name)
        driver = ReplicaDriver(
            store.name,
            from: endpoints.joined(separator: ","),
            hasKeys: false,
            limits: limits,
            name: PeerName(name),
            environment: SimulatedEnvironment(process),
            output: output,
            logger: .silent
        )
        document = Self.document(of: store, typed: random.oneIn(2), maxBytes: limits.maxSnapshotBytes)
    }

    var machine: ReplicaMachine { driver.machine }

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
        driver.onDirective = { [weak self] in self?.performs($0) }
        socket.onMessage = { [weak self] in self?.receives($0) }
        socket.onReadable = { [weak self] in
            self?.driver.drain()
            self?.polled()
        }
        socket.onDeadline = { [weak self] in self?.tick() }
        driver.start(on: socket)
    }

    /// The process ends.
    func end() {
        process.end()
        socket.close()
        driver.stop()
    }

    // MARK: Events

    private func tick() {
        driver.drain()
        if process.now >= machine.nextDeadline { world.coverage.note(machine.phaseName, .tick) }
        driver.tick()
        polled()
    }

    private func receives(_ message: [UInt8]) {
        guard let (address, frame) = try? Message.decode(message), address.store == store.name else {
            return world.violated(.messagesAreReadable, "\(name) received an unreadable message")
        }
        world.coverage.note(machine.phaseName, frame)
        requireLimits()
    }

    private func requireLimits() {
        world.require(
            machine.backlogBytes <= limits.maxBacklogBytes,
            .limitsHold,
            "\(name) buffers \(machine.backlogBytes) bytes, at most \(limits.maxBacklogBytes) are allowed"
        )
    }

    private func polled() {
        requireLimits()
        guard !isProcessing, output.queue.isSignaled else { return }
        isProcessing = true
        process.schedule(after: random.duration(.microseconds(10) ... .milliseconds(random.oneIn(20) ? 300 : 1))) {
            [weak self] in self?.processSteps()
        }
    }

    private func performs(_ directive: ReplicaDirective) {
        guard case .count(let event) = directive else { return }
        events.append((world.now, event))
        if event == .rewound { hasReportedRewind = true }
    }

    // MARK: Document

    /// As `Replica.processSteps`.
    private func processSteps() {
        isProcessing = false
        guard let batch = output.queue.dequeue() else { return }
        let outcome = document.show(batch.steps)
        if let verification = outcome.verification {
            process.schedule(after: random.duration(.microseconds(50) ... .seconds(1))) { [weak self] in
                self?.output.queue.enqueue(verification.run())
                self?.polled()
            }
        }
        if let (position, digest) = outcome.shown { showed(position, digest) }
        if let failure = outcome.failure {
            world.note("\(name) document failed at \(failure.position): \(failure.reason)")
            world.coverage.note(machine.phaseName, .documentFailed)
            driver.documentFailed(failure)
        }
        for status in outcome.statuses {
            world.note("\(name) is \(status)")
            self.status = status
            if case .incompatible = status {
                world.require(build != store.build, .nodesStayUp, "\(name) of the same build is \(status)")
            }
        }
        if let confirmed = outcome.confirmed {
            world.coverage.note(machine.phaseName, .documentConfirmed)
            driver.documentConfirmed(at: confirmed)
        }
        if batch.wasFull { driver.resumeReading() }
        polled()
    }

    private func showed(_ position: Position, _ digest: UInt64) {
        world.note("\(name) shows \(position)")
        if let last = self.position, last.lineage == position.lineage {
            world.require(
                last.epoch <= position.epoch,
                .positionsRise,
                "\(name) goes back from \(last) to \(position), an earlier incarnation"
            )
            if position.revision < last.revision {
                world.require(
                    last.epoch < position.epoch && hasReportedRewind,
                    .positionsRise,
                    "\(name) goes back from \(last) to \(position), and reports no rewind"
                )
                hasReportedRewind = false
            }
        }
        (self.position, self.digest) = (position, digest)
        store.history.shown(position, digest: digest, by: name)
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
