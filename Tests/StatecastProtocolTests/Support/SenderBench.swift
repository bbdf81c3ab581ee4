import StatecastCoding
import StatecastCore
import StatecastProtocol

/// A sender's machine with a manual clock, its subscriptions, and the outcomes of its actions.
struct SenderBench {
    var machine: SenderMachine
    var now = Instant.origin
    private var generator = SeededGenerator(seed: 1)
    private(set) var subscriptions: [Topic] = []
    private(set) var outcomes: [Ticket: (number: ActionNumber?, result: Result<Position, Rejection>)] = [:]
    private(set) var statuses: [SenderStatus] = []
    private(set) var asked = 0
    /// The endpoints for actions that it connected to, and when all connections were replaced.
    private(set) var connections: [String] = []
    private(set) var reconnections: [Instant] = []
    private var tickets: UInt64 = 0
    /// Why connecting fails, if it does.
    var refusal: Rejection?
    /// The changes of the session that were passed to the disk. They are on it at once unless the disk is slow.
    private(set) var changes: [SessionChange] = []
    var isDiskSlow = false
    /// Why the sender ended.
    private(set) var failure: String?
    private(set) var schemas: [Result<StoreSchema, Rejection>] = []
    private(set) var isClosed = false

    init(_ limits: Limits = .sendingAtOnce) {
        machine = SenderMachine(Fixture.secret, limits: limits, now: .origin)
        note(machine.start(at: now, using: &generator))
    }

    /// Resumes a saved session.
    init(resuming saved: SavedSession, _ limits: Limits = .sendingAtOnce) {
        machine = SenderMachine(resuming: saved, limits: limits, now: .origin)
        tickets = saved.last.rawValue
        note(machine.start(at: now, using: &generator))
    }

    /// Continues a session that a client numbers.
    init(continuing session: ContinuedSession, _ limits: Limits = .sendingAtOnce) {
        machine = SenderMachine(continuing: session, limits: limits, now: .origin)
        note(machine.start(at: now, using: &generator))
    }

    /// A sender with an open session that the primary knows.
    static func open(_ limits: Limits = .sendingAtOnce) -> SenderBench {
        var bench = openNew(limits)
        bench.watermark(0)
        return bench
    }

    /// A sender with an open session that is new to the primary.
    static func openNew(_ limits: Limits = .sendingAtOnce) -> SenderBench {
        var bench = SenderBench(limits)
        bench.watermark(nil)
        return bench
    }

    private mutating func note(_ directives: [SenderDirective]) {
        for directive in directives {
            switch directive {
            case .subscribe(let topic): subscriptions.append(topic)
            case .unsubscribe(let topic):
                let index = subscriptions.firstIndex(of: topic)
                precondition(index != nil, "\(topic) was not subscribed to")
                if let index { subscriptions.remove(at: index) }
            case .reconnect:
                subscriptions = []
                reconnections.append(now)
            case .connect(let endpoint):
                connections.append(endpoint)
                let result = refusal.map { Result.failure($0) } ?? .success(endpoint)
                note(machine.connected(result, at: now, using: &generator))
            case .save(let change):
                changes.append(change)
                if !isDiskSlow { written() }
            case .resolve(let runs): runs.forEach { resolve($0) }
            case .giveUp(let runs, _): runs.forEach { resolve($0) }
            case .status(let status): statuses.append(status)
            case .answerSchema(let answer): schemas.append(answer)
            case .fail(let cause): failure = cause
            case .close: isClosed = true
            case .count(.asked): asked += 1
            case .count, .reuse: break
            }
        }
    }

    private mutating func resolve(_ run: ResolvedRun) {
        for (ticket, outcome) in run.outcomes {
            precondition(outcomes[ticket] == nil, "\(ticket) has two outcomes")
            outcomes[ticket] = (outcome.sent?.number, outcome.result)
        }
    }

    /// Performs the directives of an event that takes no time.
    @discardableResult
    mutating func handle(_ event: (inout SenderMachine) -> [SenderDirective]) -> [SenderDirective] {
        let directives = event(&machine)
        note(directives)
        return directives
    }

    /// All changes are on the disk, or `count` of them.
    mutating func written(_ count: Int? = nil, failure: SaveFailure? = nil) {
        note(machine.saved(count ?? changes.count, failure: failure))
    }

    /// A caller stopped waiting for an action.
    ///
    /// - Returns: the number of the action, if it was sent.
    mutating func giveUp(_ ticket: Ticket) -> (code: Rejection.Code?, number: ActionNumber?) {
        for case .resolve(let runs) in machine.giveUp(ticket, because: "late") {
            return (runs[0].code, runs[0].sent?.number)
        }
        return (nil, nil)
    }

    mutating func blocked() { note(machine.blocked(at: now, using: &generator)) }
    mutating func writable() { note(machine.writable(at: now, using: &generator)) }

    @discardableResult
    mutating func send(_ count: Int = 1, bytes: Int = 3) -> [Ticket] {
        (0..<count).map { _ in send(Array(repeating: 7, count: bytes)) }
    }

    /// Sends an encoded action.
    @discardableResult
    mutating func send(_ action: [UInt8]) -> Ticket {
        tickets += 1
        let ticket = Ticket(rawValue: tickets)
        note(machine.submitted(ActionChunk([action], first: ticket)))
        note(machine.save())
        return ticket
    }

    /// Pushes all that the window allows.
    @discardableResult
    mutating func push() -> [ActionsFrame] {
        var frames: [ActionsFrame] = []
        note(machine.save())
        while let next = machine.nextFrame {
            frames.append(next.frame)
            note(machine.pushed(next, at: now, using: &generator))
        }
        return frames
    }

    @discardableResult
    mutating func receive(_ frame: Frame, on topic: Topic? = nil) -> [SenderDirective] {
        let topic = topic ?? .receipts(machine.session)
        let directives = machine.received(frame, on: topic, at: now, using: &generator)
        note(directives)
        return directives
    }

    @discardableResult
    mutating func watermark(
        _ number: UInt64?,
        lineage: Lineage = Fixture.lineage,
        epoch: Epoch = Fixture.epoch,
        opened: UInt64 = 0,
        endpoint: String = Fixture.endpoint,
        window: Int = 1024,
        maxActionBytes: Int = 1 << 18,
        maxFrameBytes: Int = 1 << 20
    ) -> [SenderDirective] {
        receive(
            .watermark(
                Watermark(
                    lineage: lineage,
                    epoch: epoch,
                    number: number.map { ActionNumber($0) },
                    opened: JournalSequence(opened),
                    maxWindowActions: window,
                    maxActionBytes: maxActionBytes,
                    maxFrameBytes: maxFrameBytes,
                    endpoint: endpoint
                )
            )
        )
    }

    /// Receipts for a range, applied at the revisions of their numbers.
    @discardableResult
    mutating func receipts(_ numbers: ClosedRange<UInt64>, lineage: Lineage = Fixture.lineage) -> [SenderDirective] {
        receive(
            .receipts(
                Receipts(
                    lineage: lineage,
                    epoch: Fixture.epoch,
                    outcomes: OutcomeRuns(numbers.map { .applied(Revision($0)) }, from: numbers.lowerBound)
                )
            )
        )
    }

    @discardableResult
    mutating func expect(_ number: UInt64, lineage: Lineage = Fixture.lineage) -> [SenderDirective] {
        receive(.expected(Expected(lineage: lineage, number: ActionNumber(number))))
    }

    @discardableResult
    mutating func refuse(_ code: Rejection.Code, retryAfter: Duration? = nil) -> [SenderDirective] {
        receive(.refusal(Refusal(Rejection(code, "because"), retryAfter: retryAfter)))
    }

    /// Refuses a frame that was pushed.
    @discardableResult
    mutating func refuse(
        _ code: Rejection.Code,
        retryAfter: Duration? = nil,
        first: UInt64,
        opened: UInt64 = 0
    ) -> [SenderDirective] {
        let frame = Refusal.PushedFrame(opened: JournalSequence(opened), first: ActionNumber(first))
        return receive(.refusal(Refusal(Rejection(code, "because"), retryAfter: retryAfter, frame: frame)))
    }

    @discardableResult
    mutating func wait() -> [SenderDirective] {
        guard let deadline = machine.nextDeadline else { return [] }
        return wait(until: max(now, deadline))
    }

    @discardableResult
    mutating func wait(until moment: Instant) -> [SenderDirective] {
        now = moment
        let directives = machine.tick(at: now, using: &generator)
        note(directives)
        return directives
    }

    func code(_ ticket: Ticket) -> Rejection.Code? {
        guard case .failure(let rejection)? = outcomes[ticket]?.result else { return nil }
        return rejection.code
    }

    func revision(_ ticket: Ticket) -> UInt64? {
        guard case .success(let position)? = outcomes[ticket]?.result else { return nil }
        return position.revision.rawValue
    }

    var status: SenderStatus? { statuses.last }
}

extension ActionsFrame {
    /// The numbers that it carries.
    var numbers: ClosedRange<UInt64> { header.first.rawValue...(header.first.rawValue + UInt64(header.count) - 1) }
}

extension ActionChunk {
    /// A chunk of actions.
    init(_ actions: [[UInt8]], first: Ticket) {
        self.init(first: first)
        for action in actions { append(action) }
    }
}

extension OutgoingFrame {
    /// The frame that a primary reads.
    var frame: ActionsFrame {
        var writer = CBORWriter()
        write(to: &writer)
        do { return try ActionsFrame(decoding: writer.bytes[...]) } catch {
            fatalError("the frame cannot be read: \(error)")
        }
    }
}

extension ResolvedRun {
    /// The outcome of each action.
    var outcomes: [(ticket: Ticket, outcome: ResolvedAction)] {
        (0..<count).map { index in
            let ticket = first.advanced(by: index)
            return (ticket, outcome(of: ticket))
        }
    }
}

extension Limits {
    /// A sender pushes small frames although receipts are outstanding.
    static var sendingAtOnce: Limits { .with { $0.minFrameBytes = 0 } }
}
