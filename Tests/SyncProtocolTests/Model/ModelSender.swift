import StateCore
import SyncProtocol

/// A sender and the outcomes of its actions. It records violations.
struct ModelSender {
    private(set) var machine: SenderMachine
    var link = Link()
    /// Frames in flight to the primary.
    var pushed: [[UInt8]] = []
    private(set) var outcomes: [ModelAction: Result<Position, Rejection>] = [:]
    /// Actions that were withdrawn before they were sent.
    private(set) var notSent: Set<ModelAction> = []
    private(set) var violations: [String] = []
    private(set) var events: Set<SenderEvent> = []
    private var actions: [Ticket: ModelAction] = [:]
    private let index: Int
    private(set) var serial = 0
    private var lastTicket = Ticket(rawValue: 0)
    private var generator: SeededGenerator
    /// Its session file, if it has one.
    private(set) var disk: ModelDisk?
    var stoppedUntil = Instant.origin

    static let pushedMax = 6

    init(index: Int, limits: Limits, isSaved: Bool, seed: UInt64, at now: Instant) {
        self.index = index
        generator = SeededGenerator(seed: seed)
        let session = SessionID(using: &generator)
        guard isSaved else {
            machine = SenderMachine(session: session, limits: limits, now: now)
            return
        }
        let disk = ModelDisk(SavedSession(store: Fixture.store(), session: session))
        machine = SenderMachine(resuming: disk.session, limits: limits, now: now)
        self.disk = disk
    }

    var all: [ModelAction] { (0..<serial).map { ModelAction(sender: index, serial: $0) } }

    mutating func start(at now: Instant) { perform(machine.start(at: now, using: &generator)) }
    mutating func tick(at now: Instant) { perform(machine.tick(at: now, using: &generator)) }

    mutating func submit() {
        let action = ModelAction(sender: index, serial: serial)
        serial += 1
        lastTicket = lastTicket.next
        actions[lastTicket] = action
        var chunk = ActionChunk(first: lastTicket)
        chunk.append(action.bytes, mark: disk.map { _ in InputMark(position: UInt64(serial)) })
        perform(machine.submitted(chunk))
    }

    /// Withdraws the newest action without an outcome; saved actions cannot be withdrawn.
    mutating func withdraw() {
        guard disk == nil,
            let (ticket, action) = actions.filter({ outcomes[$0.value] == nil && !notSent.contains($0.value) })
                .max(by: { $0.key < $1.key })
        else { return }
        for case .resolve(let runs) in machine.giveUp(ticket, because: "late") where runs[0].code == .notSent {
            notSent.insert(action)
        }
    }

    mutating func receive(at now: Instant) throws {
        guard let message = link.nextMessage() else { return }
        let (address, frame) = try Message.decode(message)
        perform(machine.received(frame, on: address.topic, at: now, using: &generator))
    }

    mutating func flush(at now: Instant) {
        perform(machine.save())
        while pushed.count < Self.pushedMax, let next = machine.nextFrame {
            pushed.append(Message.encode(.actions(next.frame), to: Address(Fixture.store(), .actions)))
            perform(machine.pushed(next, at: now, using: &generator))
        }
    }

    /// Writes the first `count` changes to the disk.
    mutating func write(_ count: Int) throws {
        if let written = try disk?.write(count) { perform(machine.saved(written)) }
    }

    /// Whether all changes are on the disk.
    var isWritten: Bool { disk?.unwritten.isEmpty ?? true }

    /// Simulates a crash: another sender continues from the session on the disk, and repeats its input from there.
    ///
    /// - Returns: the previous subscriptions.
    mutating func resume(at now: Instant) throws -> Set<[UInt8]> {
        guard let session = disk?.session else { return [] }
        let session2 = try SavedSession(decoding: session.encoded)
        if session2 != session { violations.append("read as \(session2), written as \(session)") }
        disk = ModelDisk(session)
        lastTicket = session.last
        let filter = link.reconnect()
        link = Link()
        serial = Int(session.mark.position)
        actions = [:]
        for saved in session.actions { actions[saved.ticket] = try ModelAction(decoding: saved.bytes) }
        machine = SenderMachine(resuming: session, limits: machine.limits, now: now)
        start(at: now)
        return filter
    }

    private mutating func perform(_ directives: [SenderDirective]) {
        for directive in directives {
            switch directive {
            case .subscribe(let topic): link.subscribe(Address(Fixture.store(), topic).bytes)
            case .unsubscribe(let topic): link.unsubscribe(Address(Fixture.store(), topic).bytes)
            case .connect(let endpoint):
                perform(machine.connected(.success(endpoint), at: .origin, using: &generator))
            case .save(let change): disk?.unwritten.append(change)
            case .resolve(let runs):
                for (ticket, outcome) in runs.flatMap(\.outcomes) { resolve(ticket, outcome.result) }
            case .count(let event): events.insert(event)
            case .giveUp, .answerSchema, .fail, .close: violations.append("ended: \(directive)")
            case .status, .reuse: break
            }
        }
    }

    private mutating func resolve(_ ticket: Ticket, _ outcome: Result<Position, Rejection>) {
        guard let action = actions[ticket] else { return violations.append("\(ticket) was never given") }
        if let old = outcomes[action], old != outcome {
            // A sender that restarts before it saved an outcome requests it again; if the primary has evicted it, the
            // earlier outcome holds.
            guard disk != nil, old.isUnknown || outcome.isUnknown else {
                return violations.append("\(action) has two outcomes: \(old), \(outcome)")
            }
            if outcome.isUnknown { return }
        } else if outcomes[action] != nil, disk == nil {
            violations.append("\(action) has two outcomes: \(outcome)")
        }
        if notSent.contains(action) { violations.append("\(action) was withdrawn before it was sent: \(outcome)") }
        outcomes[action] = outcome
    }
}

extension Result<Position, Rejection> {
    fileprivate var isUnknown: Bool {
        if case .failure(let rejection) = self { rejection.code == .outcomeUnknown } else { false }
    }
}

/// A sender's session file, with the changes that are not written yet.
struct ModelDisk {
    private(set) var session: SavedSession
    var unwritten: [SessionChange] = []
    private var writtenCount = 0

    init(_ session: SavedSession) { self.session = session }

    /// Writes the first `count` changes.
    ///
    /// - Returns: the number of all changes on the disk.
    mutating func write(_ count: Int) throws -> Int {
        for change in unwritten.prefix(count) {
            try session.apply(try SessionChange(decoding: change.encoded))
            session.dropResolved()
            writtenCount += 1
        }
        unwritten.removeFirst(min(count, unwritten.count))
        return writtenCount
    }
}
