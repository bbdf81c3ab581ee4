import SyncProtocol

/// A sender and what became of each of its actions. It notes what must not happen.
struct ModelSender {
    private(set) var machine: SenderMachine
    var link = Link()
    /// Frames on their way to the primary.
    var pushed: [[UInt8]] = []
    private(set) var settlements: [ModelAction: Settlement] = [:]
    /// Actions that were withdrawn before they left.
    private(set) var notSent: Set<ModelAction> = []
    private(set) var violations: [String] = []
    private(set) var events: Set<SenderEvent> = []
    private var actions: [Ticket: ModelAction] = [:]
    private let index: Int
    private(set) var serial = 0
    private var generator: SeededGenerator
    var stoppedUntil = Instant.origin

    static let pushedMax = 6

    init(index: Int, limits: Limits, seed: UInt64, at now: Instant) {
        self.index = index
        generator = SeededGenerator(seed: seed)
        machine = SenderMachine(session: SessionID(using: &generator), limits: limits, now: now)
    }

    var all: [ModelAction] { (0..<serial).map { ModelAction(sender: index, serial: $0) } }

    mutating func start(at now: Instant) { perform(machine.start(at: now, using: &generator)) }
    mutating func tick(at now: Instant) { perform(machine.tick(at: now, using: &generator)) }

    mutating func submit() {
        let action = ModelAction(sender: index, serial: serial)
        serial += 1
        let ticket = Ticket(rawValue: UInt64(serial))
        actions[ticket] = action
        perform(machine.enqueue(action.bytes, as: ticket))
    }

    /// Withdraws the newest action that is not settled.
    mutating func withdraw() {
        guard
            let (ticket, action) = actions.filter({ settlements[$0.value] == nil && !notSent.contains($0.value) })
                .max(by: { $0.key < $1.key })
        else { return }
        if machine.withdraw(ticket) == nil { notSent.insert(action) }
    }

    mutating func receive(at now: Instant) throws {
        guard let message = link.nextMessage() else { return }
        let (address, frame) = try Message.decode(message)
        perform(machine.received(frame, on: address.topic, at: now, using: &generator))
    }

    mutating func flush(at now: Instant) {
        while pushed.count < Self.pushedMax, let frame = machine.nextFrame {
            pushed.append(Message.encode(.actions(frame), to: Address(Fixture.store(), .actions)))
            perform(machine.pushed(frame, at: now, using: &generator))
        }
    }

    private mutating func perform(_ directives: [SenderDirective]) {
        for directive in directives {
            switch directive {
            case .subscribe(let topic): link.subscribe(Address(Fixture.store(), topic).bytes)
            case .unsubscribe(let topic): link.unsubscribe(Address(Fixture.store(), topic).bytes)
            case .settle(let ticket, _, let settlement): settle(ticket, settlement)
            case .count(let event): events.insert(event)
            case .connect, .status: break
            }
        }
    }

    private mutating func settle(_ ticket: Ticket, _ settlement: Settlement) {
        guard let action = actions[ticket] else { return violations.append("\(ticket) was never given") }
        if let old = settlements[action] { violations.append("\(action) is settled twice: \(old), \(settlement)") }
        if notSent.contains(action) { violations.append("\(action) was withdrawn before it left: \(settlement)") }
        settlements[action] = settlement
    }
}
