import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastThreading

/// A sender with its outbox and, if it has one, its session file.
final class SimulatedSender {
    private let world: World
    let name: String
    /// Its number in the identities of its actions.
    let index: UInt32
    /// Several senders have one user.
    var user: String { Self.users[Int(index % 2)] }
    static let users = ["user.0", "user.1"]
    let store: SimulatedStore
    private let network: Network
    private let sizes: Sizes
    let host: Host
    private(set) var process: Process
    private(set) var machine: SenderMachine
    private(set) var socket: Subscriber!
    private(set) var pusher: Pusher?
    /// The last frame that it pushed, or tried to.
    private(set) var lastPushed: ActionsHeader?
    private var loop: Loop!
    private var random: SplitMix64
    /// Its session file.
    let file: SimulatedSessionFile?
    /// The changes that are to be written, as one, and the number of all changes so far.
    private var change = SessionChange()
    private var changeCount = 0
    /// The changes that are being written, and the number of all changes up to them.
    private var writing: (change: SessionChange, count: Int)?
    /// The number of all changes that were written.
    private var savedCount = 0
    /// Whether the next write fails, after which the sender ends.
    var failsNextSave = false
    /// From a ticket to an action, and from an action to its outcome.
    private var actions: [Ticket: WorkID] = [:]
    private(set) var outcomes: [WorkID: Result<Position, Rejection>] = [:]
    /// The number of actions without an outcome.
    var outcomesMissing: Int { actions.count - outcomes.count }
    private(set) var serial: UInt32
    private var lastTicket: Ticket
    /// The last action whose outcome its user has processed.
    private var acknowledged: Ticket
    /// Whether an outcome may be unknown: the primary may begin another history, lose records, or evict the session.
    private var mayLoseOutcomes: Bool {
        sizes.evictsUsedSessions || store.history.hasLostRecords || hostileUntil != nil
    }
    /// Set when a hostile primary begins to serve: the time at which it ends. Its frames may have changed the session,
    /// so the value stays until an action is confirmed after that time. Then it is `nil` again.
    var hostileUntil: Instant?
    /// Whether it is stopped by its user.
    private var isStopping = false
    /// Called when its process ends.
    var onEnd: () -> Void = {}
    private let makeAction: (WorkID) -> WorkAction
    /// Called when the frame that opens a session is pushed.
    var onOpening: () -> Void = {}

    private static let maxMessagesPerTurn = 512
    private static let maxFramesPerTurn = 64

    init(
        _ name: String,
        index: UInt32,
        of store: SimulatedStore,
        _ world: World,
        _ network: Network,
        on host: Host,
        _ sizes: Sizes,
        file: SimulatedSessionFile?,
        makeAction: @escaping (WorkID) -> WorkAction
    ) {
        (self.name, self.index, self.store, self.world) = (name, index, store, world)
        (self.network, self.host, self.sizes, self.file) = (network, host, sizes, file)
        self.makeAction = makeAction
        random = world.random.split()
        let limits = sizes.limits
        process = Process(name, on: host, in: world)
        if let file {
            machine = SenderMachine(resuming: file.session, limits: limits, now: process.now)
            lastTicket = file.session.last
            acknowledged = file.session.actions.first.map { Ticket(rawValue: $0.ticket.rawValue - 1) } ?? lastTicket
            // It reads its input again from there, and makes the same actions.
            serial = UInt32(file.session.mark.position)
            for saved in file.session.actions {
                actions[saved.ticket] = WorkID(sender: index, serial: UInt32(saved.position ?? 0))
            }
        } else {
            machine = SenderMachine(SessionSecret(using: &random), limits: limits, now: process.now)
            (lastTicket, acknowledged, serial) = (Ticket(rawValue: 0), Ticket(rawValue: 0), 0)
        }
    }

    func start() {
        process.onEnd = { [weak self] in self?.onEnd() }
        loop = Loop(of: process) { [weak self] in self?.poll() }
        connectDownlink()
        for saved in file?.session.actions ?? [] {
            if let outcome = saved.outcome { resolve(saved.ticket, outcome.result) }
        }
        perform(machine.start(at: process.now, using: &random))
        loop.wake()
    }

    private func connectDownlink() {
        socket = Subscriber(
            of: process,
            network,
            node: name,
            user: user,
            to: SimulatedPrimary.endpoint
        ) { [weak self] in self?.loop.wake(at: $0) }
    }

    func end() {
        process.end()
        socket.close()
        pusher?.close()
    }

    /// Closes the sender as its user does: writes all changes, reports the outcomes that this allows, and ends the
    /// process.
    func stop() {
        guard process.isAlive else { return }
        isStopping = true
        finishWrites()
        while process.isAlive, case let changes = machine.save(), !changes.isEmpty {
            perform(changes)
            finishWrites()
        }
        if process.isAlive {
            world.coverage.note(machine.phaseName, .stopped)
            perform(machine.stop(because: "stopped"))
        }
        end()
    }

    /// Its actions that are on the disk, and whose outcome neither this process nor one before was told.
    var unreported: [WorkID] {
        (file.map { 1..<UInt32($0.session.mark.position) + 1 } ?? 1..<1).map { WorkID(sender: index, serial: $0) }
            .filter { !store.history.hasReported($0) }
    }

    /// Whether every action has its outcome, on the disk if there is one.
    var isDone: Bool {
        machine.pendingCount == 0 && writing == nil && change.isEmpty && outcomesMissing == 0
    }

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
                    try ActionTable.encode(action.sent),
                    mark: file.map { _ in InputMark(position: UInt64(serial)) }
                )
            } catch { preconditionFailure("an action of the simulation cannot be encoded: \(error)") }
        }
        world.coverage.note(machine.phaseName, .submitted)
        perform(machine.submitted(chunk))
        loop.wake()
    }

    private func poll() {
        for _ in 0..<Self.maxMessagesPerTurn {
            guard let message = socket.next() else { break }
            received(message)
        }
        if let deadline = machine.nextDeadline, process.now >= deadline {
            world.coverage.note(machine.phaseName, .tick)
        }
        perform(machine.tick(at: process.now, using: &random))
        if file?.keepsOutcomes == true, random.oneIn(4) { acknowledge() }
        push()
        loop.wake(atLocal: machine.nextDeadline)
        if let arrival = socket.nextArrival { loop.wake(at: arrival) }
    }

    private func received(_ message: [UInt8]) {
        guard let (address, frame) = try? Message.decode(message), address.store == store.name else {
            machine.heard()
            return world.require(
                hostileUntil != nil,
                .messagesAreReadable,
                "\(name) received an unreadable message"
            )
        }
        world.coverage.note(machine.phaseName, frame)
        world.note("\(name) receives \(frame)")
        perform(machine.received(frame, on: address.topic, at: process.now, using: &random))
    }

    private func push() {
        perform(machine.save())
        for _ in 0..<Self.maxFramesPerTurn {
            guard let frame = machine.nextFrame, let pusher else { break }
            var writer = CBORWriter()
            let address = Address(store.name, .actions).bytes
            writer.encoded(address)
            frame.write(to: &writer)
            world.note("\(name) pushes \(frame.header.first), \(frame.header.count) actions")
            let end = frame.header.first.advanced(by: frame.header.count)
            world.require(
                end.distance(beyond: frame.header.lowest) <= sizes.limits.maxWindowActions,
                .limitsHold,
                "\(name) pushes actions from \(frame.header.lowest) to \(end), beyond its window"
            )
            lastPushed = frame.header
            let isSent = process.canOutput() && pusher.send(writer.bytes)
            if isSent, let pushed = try? ActionsFrame(decoding: writer.bytes.dropFirst(address.count)) {
                store.history.pushed(pushed)
            }
            if frame.header.first == frame.header.base { onOpening() }
            world.coverage.note(machine.phaseName, isSent ? .pushed : .blocked)
            perform(
                isSent
                    ? machine.pushed(frame, at: process.now, using: &random)
                    : machine.blocked(at: process.now, using: &random)
            )
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
            case .reconnect:
                socket.replace(noticedAfter: random.duration(.zero ... .seconds(30)))
                pusher?.close()
                pusher = nil
                connectDownlink()
            case .connect(let endpoint):
                let result = connect(to: endpoint)
                world.coverage.note(machine.phaseName, (try? result.get()) == nil ? .connectFailed : .connected)
                perform(machine.connected(result, at: process.now, using: &random))
            case .save(let change): write(change)
            case .resolve(let runs):
                for run in runs {
                    world.note("\(name) has \(run.count) outcomes from ticket \(run.first.rawValue) on: \(run.kind)")
                    for offset in 0..<run.count {
                        let ticket = run.first.advanced(by: offset)
                        requireSaved(ticket, run)
                        resolve(ticket, run.outcome(of: ticket).result)
                    }
                    // What it decided because of such frames is reported when it is saved.
                    if case .applied = run.kind, let until = hostileUntil, world.now >= until, !socket.hasUnread,
                        writing == nil, change.isEmpty
                    {
                        hostileUntil = nil
                    }
                }
            case .fail(let cause):
                world.require(cause == Self.saveFailure, .nodesStayUp, "\(name) failed: \(cause)")
                world.count(.sessionFileFails)
                isStopping = true
                perform(machine.stop(because: cause))
                process.end()
            case .close(let cause): world.require(isStopping, .nodesStayUp, "\(name) ended: \(cause)")
            case .giveUp(let runs, _): for run in runs { giveUp(run) }
            case .status(let status): world.note("\(name) is \(status)")
            case .count(.outcomesLost):
                world.require(mayLoseOutcomes, .outcomesAreFinal, "\(name) was told that outcomes are lost")
            case .count, .answerSchema, .reuse: break
            }
        }
    }

    /// As `ActionSocket`, which refuses an endpoint that is malformed.
    private func connect(to endpoint: String) -> Result<String, Rejection> {
        world.note("\(name) connects to \(endpoint)")
        pusher?.close()
        pusher = nil
        guard !endpoint.isEmpty else { return .failure(Rejection(.endpointRefused, "no endpoint")) }
        pusher = Pusher(
            of: process,
            network,
            node: name,
            user: user,
            to: endpoint,
            maxQueue: sizes.limits.maxWindowFrames,
            onWritable: { [weak self] in self?.writable() }
        )
        return .success(endpoint)
    }

    /// The last outcomes of actions, when the sender ends.
    private func giveUp(_ run: ResolvedRun) {
        for offset in 0..<run.count {
            let ticket = run.first.advanced(by: offset)
            guard let id = actions[ticket], outcomes[id] == nil else {
                world.violated(.oneOutcome, "\(name) was told another outcome of \(ticket.rawValue): \(run.kind)")
                continue
            }
            let isSaved = file.map { ticket <= $0.session.last }
            switch run.code {
            case .kept:
                world.require(isSaved == true, .decisionsAreSaved, "\(name) was told that \(id) is kept, and it is not")
            case .notSent:
                world.require(
                    isSaved != true,
                    .decisionsAreSaved,
                    "\(name) was told that \(id) is not sent, and it is kept"
                )
                // Another process reads it again.
                if file == nil { store.history.rejected(id, "not-sent", to: name) }
            case .outcomeUnknown: if file == nil { store.history.reported(id, isUnknown: true, to: name) }
            default: world.violated(.outcomesAreFinal, "\(name) was told of \(id) when it ended: \(run.kind)")
            }
        }
    }

    /// Requires that an outcome which the sender decides is in its session file before it is reported.
    private func requireSaved(_ ticket: Ticket, _ run: ResolvedRun) {
        guard let file else { return }
        let isDecided = if case .unknown = run.kind { true } else { run.sent == nil }
        world.require(
            !isDecided || file.session.outcomes.contains { $0.first <= ticket && ticket < $0.end },
            .decisionsAreSaved,
            "\(name) was told \(run.kind) of \(ticket.rawValue), which is not in its session file"
        )
    }

    private func resolve(_ ticket: Ticket, _ outcome: Result<Position, Rejection>) {
        guard let id = actions[ticket] else {
            return world.violated(.oneOutcome, "\(name) has an outcome of \(ticket), which it never used")
        }
        if let before = outcomes.updateValue(outcome, forKey: id) {
            world.violated(.oneOutcome, "\(name) was told two outcomes of \(id): \(before) and \(outcome)")
        }
        // A process reports again what its file has of the one before.
        let mayBeUnknown =
            mayLoseOutcomes || store.history.hasReportedAsUnknown(id) || world.rights.lackedAll(user)
        store.history.reported(id, isUnknown: outcome.isUnknown, to: name)
        switch outcome {
        case .success(let position):
            store.history.confirmed(id, at: position, to: name)
        case .failure(let reason):
            guard reason.code != .outcomeUnknown else {
                return world.require(
                    mayBeUnknown,
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
                .onlyTrapsAreRejectedAsSuch,
                "\(name) was told that \(id) crashed the primary, which it cannot"
            )
            world.require(
                reason.code != .notPermitted
                    || world.rights.lackedRight(user, to: type(of: makeAction(id).sent).name, since: .origin),
                .rightsHold,
                "\(name) was told that \(id) is not permitted, to which it always had the right"
            )
            store.history.rejected(id, "\(reason.code)", to: name)
        }
    }

    // MARK: Session file

    /// The outcomes so far are processed: the file may drop them.
    private func acknowledge() {
        let before = acknowledged
        while let id = actions[acknowledged.next], outcomes[id] != nil { acknowledged = acknowledged.next }
        guard acknowledged > before else { return }
        world.coverage.note(machine.phaseName, .acknowledged)
        perform(machine.acknowledge(upTo: acknowledged))
    }

    private func write(_ change: SessionChange) {
        self.change.merge(change)
        changeCount += 1
        if writing == nil { writeNext() }
    }

    /// Changes that arrive during a write are merged and written together.
    private func writeNext() {
        guard !change.isEmpty else { return }
        writing = (change, changeCount)
        change = SessionChange()
        let count = changeCount
        process.schedule(after: random.duration(.microseconds(100) ... .milliseconds(30))) { [self] in
            if writing?.count == count { finishWrite() }
        }
    }

    private func finishWrite() {
        // The process may end before the write, or between the write and what follows from it.
        guard let file, let (change, count) = writing, process.canOutput() else { return }
        if failsNextSave {
            failsNextSave = false
            let isSaved = random.oneIn(2)
            if isSaved { file.save(change, world) }
            world.coverage.note(machine.phaseName, .saveFailed)
            let failure = SaveFailure(Self.saveFailure, mayBeSaved: isSaved || random.oneIn(2))
            return perform(machine.saved(savedCount, failure: failure))
        }
        file.save(change, world)
        guard process.canOutput() else { return }
        (writing, savedCount) = (nil, count)
        world.coverage.note(machine.phaseName, .saved)
        perform(machine.saved(count))
        writeNext()
        loop.wake()
    }

    /// Does all writes now.
    private func finishWrites() { while process.isAlive, writing != nil { finishWrite() } }

    private static let saveFailure = "the simulated session file failed"
}

extension Result<Position, Rejection> {
    fileprivate var isUnknown: Bool {
        if case .failure(let reason) = self { reason.code == .outcomeUnknown } else { false }
    }
}

/// The session file of a sender, which its next process finds.
final class SimulatedSessionFile {
    private(set) var session: SavedSession
    /// Whether the file keeps outcomes until the user has acknowledged them.
    let keepsOutcomes: Bool

    init(_ session: SavedSession, keepsOutcomes: Bool) {
        (self.session, self.keepsOutcomes) = (session, keepsOutcomes)
    }

    /// Applies a change as a reader of the file does, from its bytes.
    func save(_ change: SessionChange, _ world: World) {
        do {
            let change = try SessionChange(decoding: change.encoded)
            try session.apply(change)
            if !keepsOutcomes { session.dropResolved(after: change) }
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
