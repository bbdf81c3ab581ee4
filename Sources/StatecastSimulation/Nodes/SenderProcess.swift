import Statecast
import StatecastProtocol
import StatecastThreading

/// The process of a sender, with the production code of its driver, its intake, and the writer of its session file, if
/// it has one.
///
/// Unchecked, but safe: see ``World``.
final class SenderProcess: @unchecked Sendable {
    private let world: World
    let name: String
    /// Its number in the identities of its actions.
    let index: UInt32
    /// Several senders have one user.
    var user: String { Self.users[Int(index % 2)] }
    static let users = ["user.0", "user.1"]
    let store: SimulatedStore
    private let sizes: Sizes
    let host: Host
    let process: Process
    let socket: Subscriber
    let pusher: Pusher
    private let driver: SenderDriver
    private let intake: SenderIntake
    /// The last frame that it pushed, or tried to.
    private(set) var lastPushed: ActionsHeader?
    private var random: SplitMix64
    /// Its session file.
    let file: SimulatedSessionFile?
    /// From a ticket to an action, and from an action to its outcome.
    private var actions: [Ticket: WorkID] = [:]
    private(set) var outcomes: [WorkID: Result<Position, Rejection>] = [:]
    /// The number of actions without an outcome.
    var outcomesMissing: Int { actions.count - outcomes.count }
    private(set) var serial: UInt32
    /// The last action whose outcome its user has processed.
    private var acknowledged: Ticket
    /// Whether an outcome may be unknown: the primary may begin another history, lose records, or evict the session.
    private var mayLoseOutcomes: Bool {
        sizes.evictsUsedSessions || store.history.hasLostRecords
    }
    /// Whether it is stopped by its user.
    private var isStopping = false
    /// Called when its process ends.
    var onEnd: () -> Void = {}
    private let makeAction: (WorkID) -> WorkAction
    /// Called when the frame that opens a session is pushed.
    var onOpening: () -> Void = {}

    init(
        _ name: String,
        index: UInt32,
        of store: SimulatedStore,
        _ world: World,
        _ network: Network,
        on host: Host,
        _ sizes: Sizes,
        from endpoints: [String],
        file: SimulatedSessionFile?,
        makeAction: @escaping (WorkID) -> WorkAction
    ) {
        (self.name, self.index, self.store, self.world) = (name, index, store, world)
        (self.host, self.sizes, self.file, self.makeAction) = (host, sizes, file, makeAction)
        random = world.random.split()
        let process = Process(name, on: host, in: world)
        self.process = process
        let user = Self.users[Int(index % 2)]
        socket = Subscriber(of: process, network, node: name, user: user, of: store.name, to: endpoints)
        let maxQueue = sizes.limits.maxWindowFrames
        pusher = Pusher(of: process, network, node: name, user: user, of: store.name, maxQueue: maxQueue)
        let session = file.map { ResumedSession($0.open(in: process), in: $0) }
        let last = session?.saved.last ?? Ticket(rawValue: 0)
        intake = SenderIntake(maxPending: .max, after: last, pending: session?.saved.outstandingCount ?? 0)
        driver = SenderDriver(
            store.name,
            from: endpoints.joined(separator: ","),
            hasKeys: false,
            limits: sizes.limits,
            environment: SimulatedEnvironment(process, commitTime: .microseconds(100) ... .milliseconds(30)),
            intake: intake,
            session: session,
            statuses: Broadcast(),
            logger: .silent,
            onFailure: { _ in process.end() }
        )
        let saved = session?.saved.actions ?? []
        acknowledged = saved.first.map { Ticket(rawValue: $0.ticket.rawValue - 1) } ?? last
        // It reads its input again from there, and makes the same actions.
        serial = UInt32(session?.saved.mark.position ?? 0)
        for saved in saved { actions[saved.ticket] = WorkID(sender: index, serial: UInt32(saved.position ?? 0)) }
    }

    var machine: SenderMachine { driver.machine }

    func start() {
        process.onEnd = { [weak self] in self?.onEnd() }
        driver.onDirective = { [weak self] in self?.performs($0) }
        socket.onMessage = { [weak self] in self?.receives($0) }
        pusher.onPush = { [weak self] in self?.pushes($0) ?? false }
        pusher.onPushed = { [weak self] in self?.pushed($0) }
        pusher.onConnect = { [weak self] in self?.note($0 ? .connected : .connectFailed) }
        socket.onReadable = { [weak self] in self?.turn { $0.drain() } }
        socket.onDeadline = { [weak self] in
            guard let self else { return }
            driver.drain()
            if let deadline = machine.nextDeadline, process.now >= deadline { note(.tick) }
            turn { $0.tick() }
        }
        pusher.onWritable = { [weak self] in
            self?.note(.writable)
            self?.driver.writable()
        }
        for saved in file?.session.actions ?? [] {
            if let outcome = saved.outcome { resolve(saved.ticket, outcome.result) }
        }
        driver.start(
            on: socket,
            pushingOn: pusher,
            onSubmission: { [weak self] in self?.soon { $0.submitted() } },
            onSave: { [weak self] in
                self?.soon { [weak self] driver in
                    if let file = self?.file, file.hasWritten { self?.note(file.hasFailed ? .saveFailed : .saved) }
                    driver.sessionSaved()
                }
            }
        )
    }

    /// The process ends.
    func end() {
        process.end()
        socket.close()
        pusher.close()
    }

    /// Closes the sender as its user does, and ends the process.
    func stop() {
        guard process.isAlive else { return }
        isStopping = true
        note(.stopped)
        driver.stop(because: "stopped")
        end()
    }

    /// Its actions that are on the disk, and whose outcome neither this process nor one before was told.
    var unreported: [WorkID] {
        (file.map { 1..<UInt32($0.session.mark.position) + 1 } ?? 1..<1).map { WorkID(sender: index, serial: $0) }
            .filter { !store.history.hasReported($0) }
    }

    /// Whether every action has its outcome, on the disk if there is one.
    var isDone: Bool { machine.pendingCount == 0 && !driver.isSaving && outcomesMissing == 0 }

    // MARK: Events

    /// Submits actions.
    func submit(_ count: Int) {
        for _ in 0..<count where process.isAlive {
            serial += 1
            let action = makeAction(WorkID(sender: index, serial: serial))
            do {
                let mark = file.map { _ in InputMark(position: UInt64(serial)) }
                let attempt = try ActionTable.encode(action.sent).withUnsafeBufferPointer {
                    intake.attempt($0, mark: mark)
                }
                guard case .enqueued(let receipt) = attempt, let ticket = receipt.ticket else {
                    return world.violated(.nodesStayUp, "\(name) accepts no action: \(attempt)")
                }
                actions[ticket] = action.id
            } catch { preconditionFailure("an action of the simulation cannot be encoded: \(error)") }
        }
        note(.submitted)
    }

    private func note(_ event: Coverage.SenderInput) { world.coverage.note(machine.phaseName, event) }

    /// Lets the loop call the driver, as a trigger of it does.
    private func soon(_ body: @escaping (SenderDriver) -> Void) {
        process.schedule(after: .microseconds(5)) { [weak self] in (self?.driver).map(body) }
    }

    private func turn(_ body: (SenderDriver) -> Void) {
        body(driver)
        if file?.keepsOutcomes == true, random.oneIn(4) { acknowledge() }
    }

    private func receives(_ message: [UInt8]) {
        guard let (address, frame) = try? Message.decode(message), address.store == store.name else {
            return world.violated(.messagesAreReadable, "\(name) received an unreadable message")
        }
        world.coverage.note(machine.phaseName, frame)
        world.note("\(name) receives \(frame)")
    }

    /// - Returns: whether the process lives to send the frame.
    private func pushes(_ frame: OutgoingFrame) -> Bool {
        world.note("\(name) pushes \(frame.header.first), \(frame.header.count) actions")
        let end = frame.header.first.advanced(by: frame.header.count)
        world.require(
            end.distance(beyond: frame.header.lowest) <= sizes.limits.maxWindowActions,
            .limitsHold,
            "\(name) pushes actions from \(frame.header.lowest) to \(end), beyond its window"
        )
        lastPushed = frame.header
        return process.canOutput()
    }

    private func pushed(_ frame: [UInt8]?) {
        if let frame, let pushed = try? ActionsFrame(decoding: frame[...]) { store.history.pushed(pushed) }
        if lastPushed?.first == lastPushed?.base { onOpening() }
        note(frame == nil ? .blocked : .pushed)
    }

    // MARK: Directives

    private func performs(_ directive: SenderDirective) {
        guard process.isAlive else { return }
        switch directive {
        case .resolve(let runs): for run in runs { resolve(run) }
        case .giveUp(let runs, _): for run in runs { giveUp(run) }
        case .fail(let cause):
            world.require(cause == SimulatedSessionFile.failure, .nodesStayUp, "\(name) failed: \(cause)")
            world.count(.sessionFileFails)
            isStopping = true
        case .close(let cause): world.require(isStopping, .nodesStayUp, "\(name) ended: \(cause)")
        case .status(let status): world.note("\(name) is \(status)")
        case .count(.outcomesLost):
            world.require(mayLoseOutcomes, .outcomesAreFinal, "\(name) was told that outcomes are lost")
        default: break
        }
    }

    private func resolve(_ run: ResolvedRun) {
        world.note("\(name) has \(run.count) outcomes from ticket \(run.first.rawValue) on: \(run.kind)")
        for offset in 0..<run.count {
            let ticket = run.first.advanced(by: offset)
            requireSaved(ticket, run)
            resolve(ticket, run.outcome(of: ticket).result)
        }
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

    /// The outcomes so far are processed: the file may drop them.
    private func acknowledge() {
        let before = acknowledged
        while let id = actions[acknowledged.next], outcomes[id] != nil { acknowledged = acknowledged.next }
        guard acknowledged > before else { return }
        note(.acknowledged)
        driver.request { [acknowledged] in $0.acknowledge(upTo: acknowledged) }
    }
}

extension Result<Position, Rejection> {
    fileprivate var isUnknown: Bool {
        if case .failure(let reason) = self { reason.code == .outcomeUnknown } else { false }
    }
}

/// The session file of a sender, which its next process finds.
///
/// Unchecked, but safe: see ``World``.
final class SimulatedSessionFile: SessionStorage, @unchecked Sendable {
    private(set) var session: SavedSession
    /// Whether the file keeps outcomes until the user has acknowledged them.
    let keepsOutcomes: Bool
    private var random: SplitMix64
    /// The process that has it open.
    private weak var process: Process?
    /// Whether the next write fails, after which the sender ends.
    var failsNextSave = false
    /// Whether a write of the process was done, and whether one failed.
    private(set) var (hasWritten, hasFailed) = (false, false)

    static let failure = "the simulated session file failed"

    init(_ session: SavedSession, keepsOutcomes: Bool, random: SplitMix64) {
        (self.session, self.keepsOutcomes, self.random) = (session, keepsOutcomes, random)
    }

    func open(in process: Process) -> SavedSession {
        (self.process, failsNextSave, hasWritten, hasFailed) = (process, false, false, false)
        return session
    }

    /// The process may end before the write, or between the write and what follows from it.
    func save(_ change: SessionChange) throws(SaveFailure) {
        guard let process, process.canOutput() else { throw SaveFailure("the process has ended", mayBeSaved: false) }
        hasWritten = true
        if failsNextSave {
            (failsNextSave, hasFailed) = (false, true)
            let isSaved = random.oneIn(2)
            if isSaved { write(change, process.world) }
            throw SaveFailure(Self.failure, mayBeSaved: isSaved || random.oneIn(2))
        }
        write(change, process.world)
        _ = process.canOutput()
    }

    func close() {}

    /// Applies a change as a reader of the file does, from its bytes.
    private func write(_ change: SessionChange, _ world: World) {
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
