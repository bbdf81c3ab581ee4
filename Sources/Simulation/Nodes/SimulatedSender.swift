import Journal
import StateCoding
import StateCore
import SyncProtocol

/// A sender with its outbox and, if it has one, its session file.
final class SimulatedSender {
    private let world: World
    let name: String
    /// Its number in the identities of its actions.
    let index: UInt32
    let store: SimulatedStore
    private let network: Network
    private let limits: Limits
    let host: Host
    private(set) var process: Process
    private(set) var machine: SenderMachine
    private(set) var socket: Subscriber!
    private(set) var pusher: Pusher?
    private var loop: Loop!
    private var random: SplitMix64
    /// Its session file.
    let file: SimulatedSessionFile?
    /// The changes that are to be written, as one, and the number of all changes so far.
    private var change = SessionChange()
    private var changeCount = 0
    private var isWriting = false
    /// From a ticket to an action, and from an action to its outcome.
    private var actions: [Ticket: WorkID] = [:]
    private(set) var outcomes: [WorkID: Result<Position, Rejection>] = [:]
    /// The number of actions without an outcome.
    var outcomesMissing: Int { actions.count - outcomes.count }
    private(set) var serial: UInt32
    private var lastTicket: Ticket
    /// Whether an outcome may be unknown: the primary may begin another history, lose records, or evict the session.
    private var mayLoseOutcomes: Bool { limits != Limits() || store.history.hasLostRecords || hostileUntil != nil }
    /// Until when a hostile primary may answer it. From then on its session may be another history's, until an action
    /// is confirmed. `nil`: no hostile primary has answered since.
    var hostileUntil: Instant?
    private let makeAction: (WorkID) -> WorkAction
    /// Called when the frame that opens a session is pushed.
    var onOpening: () -> Void = {}

    private static let messagesPerTurnMax = 512
    private static let framesPerTurnMax = 64

    init(
        _ name: String,
        index: UInt32,
        of store: SimulatedStore,
        _ world: World,
        _ network: Network,
        on host: Host,
        limits: Limits,
        file: SimulatedSessionFile?,
        makeAction: @escaping (WorkID) -> WorkAction
    ) {
        (self.name, self.index, self.store, self.world) = (name, index, store, world)
        (self.network, self.host, self.limits, self.file) = (network, host, limits, file)
        self.makeAction = makeAction
        random = world.random.split()
        process = Process(name, on: host, in: world) {}
        if let file {
            machine = SenderMachine(resuming: file.session, limits: limits, now: process.now)
            lastTicket = file.session.last
            // It reads its input again from there, and makes the same actions.
            serial = UInt32(file.session.mark.position)
            for saved in file.session.actions {
                actions[saved.ticket] = WorkID(sender: index, serial: UInt32(saved.position ?? 0))
            }
        } else {
            machine = SenderMachine(session: SessionID(using: &random), limits: limits, now: process.now)
            (lastTicket, serial) = (Ticket(rawValue: 0), 0)
        }
    }

    func start() {
        loop = Loop(of: process) { [weak self] in self?.poll() }
        socket = Subscriber(of: process, network, host: name, to: SimulatedPrimary.endpoint) { [weak self] in
            self?.loop.wake(at: $0)
        }
        for saved in file?.session.actions ?? [] {
            if let outcome = saved.outcome { resolve(saved.ticket, outcome.result) }
        }
        perform(machine.start(at: process.now, using: &random))
        loop.wake()
    }

    func end() {
        process.end()
        socket.close()
        pusher?.close()
    }

    /// Its actions that are on the disk, and whose outcome neither this process nor one before was told.
    var unreported: [WorkID] {
        (file.map { 1..<UInt32($0.session.mark.position) + 1 } ?? 1..<1).map { WorkID(sender: index, serial: $0) }
            .filter { !store.history.hasReported($0) }
    }

    /// Whether every action has its outcome, on the disk if there is one.
    var isDone: Bool { machine.pendingCount == 0 && !isWriting && change.isEmpty && outcomesMissing == 0 }

    // MARK: Events

    /// Submits actions.
    func submit(_ count: Int) {
        var chunk = ActionChunk(first: lastTicket.next)
        for _ in 0..<count {
            serial += 1
            lastTicket = lastTicket.next
            let action = makeAction(WorkID(sender: index, serial: serial))
            actions[lastTicket] = action.id
            do {
                chunk.append(
                    try ActionTable.encode(action),
                    mark: file.map { _ in InputMark(position: UInt64(serial)) }
                )
            } catch { preconditionFailure("an action of the simulation cannot be encoded: \(error)") }
        }
        world.coverage.note(machine.phaseName, .submitted)
        perform(machine.submitted(chunk))
        loop.wake()
    }

    private func poll() {
        for _ in 0..<Self.messagesPerTurnMax {
            guard let message = socket.next() else { break }
            received(message)
        }
        if let deadline = machine.nextDeadline, process.now >= deadline {
            world.coverage.note(machine.phaseName, .tick)
        }
        perform(machine.tick(at: process.now, using: &random))
        push()
        loop.wake(atLocal: machine.nextDeadline)
        if let arrival = socket.nextArrival { loop.wake(at: arrival) }
    }

    private func received(_ message: [UInt8]) {
        // A hostile primary sends unreadable ones.
        guard let (address, frame) = try? Message.decode(message), address.store == store.name else { return }
        world.coverage.note(machine.phaseName, frame)
        world.note("\(name) receives \(frame)")
        perform(machine.received(frame, on: address.topic, at: process.now, using: &random))
    }

    private func push() {
        perform(machine.save())
        for _ in 0..<Self.framesPerTurnMax {
            guard let frame = machine.nextFrame, let pusher else { break }
            var writer = CBORWriter()
            writer.encoded(Address(store.name, .actions).bytes)
            frame.write(to: &writer)
            world.note("\(name) pushes \(frame.header.first), \(frame.header.count) actions")
            let end = frame.header.first.advanced(by: frame.header.count)
            world.require(
                end.distance(beyond: frame.header.lowest) <= limits.windowActionsMax,
                .limitsHold,
                "\(name) pushes actions from \(frame.header.lowest) to \(end), beyond its window"
            )
            store.history.pushed(frame.header)
            let isSent = process.canOutput() && pusher.send(writer.bytes)
            if frame.header.first == frame.header.base { onOpening() }
            world.coverage.note(machine.phaseName, isSent ? .pushed : .blocked)
            perform(isSent ? machine.pushed(frame, at: process.now, using: &random) : machine.blocked())
        }
        pusher?.awaitsWritable = machine.awaitsWritable
    }

    private func writable() {
        guard process.isAlive else { return }
        process.schedule(after: .microseconds(5)) { [self] in
            pusher?.awaitsWritable = false
            world.coverage.note(machine.phaseName, .writable)
            perform(machine.writable(at: process.now, using: &random))
            push()
            loop.wake(atLocal: machine.nextDeadline)
        }
    }

    // MARK: Directives

    private func perform(_ directives: [SenderDirective]) {
        for directive in directives {
            switch directive {
            case .subscribe(let topic): socket.subscribe(Address(store.name, topic).bytes)
            case .unsubscribe(let topic): socket.unsubscribe(Address(store.name, topic).bytes)
            case .connect(let endpoint):
                world.note("\(name) connects to \(endpoint)")
                pusher?.close()
                pusher = Pusher(
                    of: process,
                    network,
                    host: name,
                    to: endpoint,
                    queueMax: limits.windowFramesMax,
                    onWritable: { [weak self] in self?.writable() }
                )
                world.coverage.note(machine.phaseName, .connected)
                perform(machine.connected(.success(endpoint), at: process.now, using: &random))
            case .save(let change): write(change)
            case .resolve(let runs):
                for run in runs {
                    world.note("\(name) has \(run.count) outcomes from ticket \(run.first.rawValue) on: \(run.kind)")
                    for offset in 0..<run.count {
                        let ticket = run.first.advanced(by: offset)
                        resolve(ticket, run.outcome(of: ticket).result)
                    }
                    if case .applied = run.kind, let until = hostileUntil, world.now >= until { hostileUntil = nil }
                }
            case .fail(let cause), .close(let cause):
                world.violated(.nodesStayUp, "\(name) ended: \(cause)")
            case .status(let status): world.note("\(name) is \(status)")
            case .count(.outcomesLost):
                world.require(mayLoseOutcomes, .outcomesAreFinal, "\(name) was told that outcomes are lost")
            case .count, .giveUp, .answerSchema, .reuse: break
            }
        }
    }

    private func resolve(_ ticket: Ticket, _ outcome: Result<Position, Rejection>) {
        guard let id = actions[ticket] else {
            return world.violated(.oneOutcome, "\(name) has an outcome of \(ticket), which it never used")
        }
        if let before = outcomes[id] {
            // A sender that restarts before it saved a receipt requests it again, and the primary may have lost it.
            let isAgain = file != nil && (before == outcome || outcome.isUnknown)
            world.require(isAgain, .oneOutcome, "\(id) has two outcomes: \(before) and \(outcome)")
        }
        if outcomes[id] == nil { store.history.reported(id, isUnknown: outcome.isUnknown, to: name) }
        outcomes[id] = outcome
        switch outcome {
        case .success(let position):
            store.history.confirmed(id, at: position, to: name)
        case .failure(let reason):
            guard reason.code != .outcomeUnknown else {
                return world.require(
                    mayLoseOutcomes,
                    .outcomesAreFinal,
                    "\(name) was told that the outcome of \(id) is unknown: \(reason)"
                )
            }
            world.require(
                ![.overloaded, .storageFull, .busy].contains(reason.code),
                .outcomesAreFinal,
                "\(name) was told that \(id) is rejected, for a reason that passes: \(reason)"
            )
            world.require(
                reason.code != .crashedReducer || makeAction(id).kind == .trap,
                .onlyGuiltyAreRejected,
                "\(name) was told that \(id) crashed the primary, which it cannot"
            )
            store.history.rejected(id, "\(reason.code)", to: name)
        }
    }

    // MARK: Session file

    private func write(_ change: SessionChange) {
        self.change.merge(change)
        changeCount += 1
        if !isWriting { writeNext() }
    }

    /// Changes that arrive during a write are merged and written together.
    private func writeNext() {
        guard let file, !change.isEmpty else { return }
        let (next, count) = (change, changeCount)
        change = SessionChange()
        isWriting = true
        process.schedule(after: random.duration(.microseconds(100) ... .milliseconds(30))) { [self] in
            // The process may end before the write, or between the write and what follows from it.
            guard process.canOutput() else { return }
            file.save(next, world)
            guard process.canOutput() else { return }
            isWriting = false
            world.coverage.note(machine.phaseName, .saved)
            perform(machine.saved(count))
            writeNext()
            loop.wake()
        }
    }
}

extension Result<Position, Rejection> {
    fileprivate var isUnknown: Bool {
        if case .failure(let reason) = self { reason.code == .outcomeUnknown } else { false }
    }
}

/// The session file of a sender, which its next process finds.
final class SimulatedSessionFile {
    private(set) var session: SavedSession

    init(_ session: SavedSession) { self.session = session }

    /// Applies a change as a reader of the file does, from its bytes.
    func save(_ change: SessionChange, _ world: World) {
        do {
            let change = try SessionChange(decoding: change.encoded)
            try session.apply(change)
            session.dropResolved(after: change)
            let read = try SavedSession(decoding: session.encoded)
            world.require(
                read == session,
                .sessionFilesAreReadable,
                "a session is read as \(read), and was written as \(session)"
            )
        } catch {
            world.violated(.sessionFilesAreReadable, "a change of a session file cannot be read: \(error)")
        }
    }
}
