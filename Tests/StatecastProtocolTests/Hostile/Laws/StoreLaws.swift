@testable import StatecastCoding
@testable import StatecastCore
@testable import StatecastProtocol

/// Laws of a store whatever its peers send. The input is the script of a run of its engine.
enum StoreLaws {
    static func check(_ bytes: [UInt8]) throws(BrokenLaw) { try StoreRun.check(Script(bytes.prefix(Script.maxBytes))) }
}

private struct StoreRun {
    private static let limits = {
        var limits = Limits()
        limits.maxFrameBytes = 1024
        limits.maxActionBytes = 128
        limits.maxChunkBytes = 32
        limits.maxSnapshotBytes = 2048
        limits.maxWindowActions = 8
        limits.maxSessions = 2
        limits.maxUserSessions = 1
        limits.maxSessionRuns = 8
        limits.maxSessionMessageBytes = 48
        limits.maxRejectionMessageBytes = 64
        limits.maxUncommittedRecords = 3
        limits.maxHeldBytes = 4096
        limits.maxRingUpdates = 5
        limits.maxRingBytes = 512
        limits.maxCatchUpUpdates = 1
        limits.maxCatchUpComposed = 6
        limits.maxWaitingJoins = 3
        limits.maxJoinsPerTurn = 2
        limits.maxSnapshots = 2
        limits.snapshotRetention = .seconds(3)
        return limits
    }()
    private static let lineage = Lineage(bits: 0xA1)
    private static let time = Timestamp(milliseconds: 1_700_000_000_000)

    private var script: Script
    private let hasJournal: Bool
    private var engine: StoreEngine<Board>
    private var epoch = Epoch(1)
    private var epochs: [EpochStart] = []
    private var now = Instant.origin

    // What the peers see.
    private var asked: [Topic] = []
    private var heard: Set<SessionID> = []
    /// The next number of each sender that follows the protocol.
    private var next: [SessionID: ActionNumber] = [:]
    private var opened: [SessionID: JournalSequence] = [:]
    private var head = Revision(0)
    private var document: Value
    /// How far each join is answered, and how far it has to be.
    private var joins: [Topic: (end: Revision, head: Revision)] = [:]

    // The primary's own process.
    private var awaited: Set<LocalID> = []
    private var lastID: UInt64 = 0

    // The journal.
    /// The records that are not stored yet.
    private var records: [EncodedRecord] = []
    private var lastRecord: (sequence: JournalSequence, to: Revision) = (JournalSequence(0), Revision(0))
    /// The records since the start of this incarnation that may be published, and the sessions before them.
    private var visible: [EncodedRecord] = []
    private var base: History
    /// What a restart recovers.
    private var replayed: History
    private var outcomes: [SentAction: Outcome] = [:]
    private var owners: [SessionID: String] = [:]
    private var isResumed = false
    private var encoding = false
    private var snapshots: [Revision: [UInt8]] = [:]
    private var isStoringSnapshot = false

    static func check(_ script: Script) throws(BrokenLaw) {
        var script = script
        let hasJournal = script.below(3) < 2
        var run = StoreRun(script, hasJournal: hasJournal)
        try run.start()
        while !run.script.isAtEnd { try run.step() }
        try run.end()
    }

    private init(_ script: Script, hasJournal: Bool) {
        (self.script, self.hasJournal) = (script, hasJournal)
        document = Board().value
        base = History(lineage: Self.lineage, epoch: epoch, summary: Summary(of: document))
        replayed = base
        engine = Self.engine(continuing: base, Board(), hasJournal: hasJournal, at: now)
    }

    private static func engine(
        continuing history: History,
        _ state: Board,
        hasJournal: Bool,
        at now: Instant
    ) -> StoreEngine<Board> {
        let settings = StoreSettings(
            limits: limits,
            migrations: 1,
            actionsEndpoint: "tcp://*:1",
            durability: hasJournal ? "full" : nil,
            snapshots: SnapshotPolicy(bytes: 256, records: 4)
        )
        // An action that is said to have crashed the process.
        let poison = Suspect(session: Script.secrets[3].session, number: ActionNumber(3), isPoison: true)
        return StoreEngine(Board.program, settings, history: history, state: state, suspects: [poison], now: now)
    }

    private mutating func start() throws(BrokenLaw) { try send { $0.begin(initialEffect: .none, into: &$1) } }

    private mutating func step() throws(BrokenLaw) {
        switch script.below(16) {
        case 0, 1, 2:
            let (frame, secret) = frame()
            try push(frame, secret)
        case 3: try turn(TurnBudget(actions: 1 + script.below(6), bytes: 1 + 8 * script.below(16)))
        case 4: try turns()
        case 5, 6: try subscribe(to: topic().address.bytes)
        case 7: try unsubscribe()
        case 8, 9: try store(1 + script.below(3))
        case 10: try fill()
        case 11:
            let isDue = script.oneIn(2)
            try tick(isDue ? engine.nextDeadline : now.advanced(by: .milliseconds(32 * script.below(256))))
        case 12: try answerEngine()
        case 13: try request()
        case 14: try receiveAnyBytes()
        default: try restart()
        }
    }

    // MARK: Events of peers

    private mutating func push(_ frame: ActionsFrame, _ secret: SessionSecret) throws(BrokenLaw) {
        try receive(Message.encode(frame, secret, to: Topic.actions.address.bytes))
    }

    /// A message that reaches the socket for actions.
    private mutating func receive(_ message: [UInt8]) throws(BrokenLaw) {
        guard case .store(_, let frame) = FrameRouter(stores: [Topic.store]).actions(message) else { return }
        heard.insert(frame.header.session)
        let (now, sender) = (now, Self.sender(of: frame))
        try send { $0.received(frame, from: sender, at: now, into: &$1) }
    }

    /// Each session has a user who continues it, and some frames come from another one. Depends on the frame only, so
    /// that the scripts of the corpus keep their meaning.
    private static func sender(of frame: ActionsFrame) -> FrameSender? {
        let header = frame.header
        if (header.first.rawValue &+ UInt64(header.count)) % 8 == 0 {
            return FrameSender(user: "other", sendingTo: Topic.store, actions: nil)
        }
        return switch Script.secrets.firstIndex(where: { $0.session == header.session }) {
        case 0: nil
        case 1: FrameSender(user: "first", sendingTo: Topic.store, actions: nil)
        default: Board.adder
        }
    }

    private mutating func receiveAnyBytes() throws(BrokenLaw) {
        switch script.below(3) {
        case 0: try receive(Topic.actions.address.bytes + script.data())
        case 1: try receive(script.data())
        default: try subscribe(to: script.data())
        }
    }

    private mutating func subscribe(to bytes: [UInt8]) throws(BrokenLaw) {
        guard case .store(_, let topic) = FrameRouter(stores: [Topic.store]).subscription(bytes[...]) else { return }
        if !asked.contains(topic) { asked.append(topic) }
        if case .receipts(let session) = topic { heard.insert(session) }
        try send { $0.subscribed(to: topic, from: nil, into: &$1) }
    }

    private mutating func unsubscribe() throws(BrokenLaw) {
        guard let topic = script.element(of: asked) else { return }
        asked.removeAll { $0 == topic }
        joins[topic] = nil
        try send { $0.unsubscribed(from: topic, into: &$1) }
    }

    private mutating func topic() -> Topic {
        switch script.below(8) {
        case 0: return .feed
        case 1: return .schema
        case 2: return .receipts(script.session())
        case 3: return .join(Nonce(bits: UInt64(script.below(4))), nil)
        case 4, 5:
            let revision = script.quantity(near: head)
            let position = Position(lineage: script.lineage(), epoch: script.quantity(near: epoch), revision: revision)
            return .join(Nonce(bits: UInt64(script.below(4))), position)
        default:
            let revision = script.oneIn(4) ? script.quantity(near: head) : snapshots.keys.max() ?? head
            return .snapshot(script.lineage(), revision, index: UInt32(truncatingIfNeeded: script.number()))
        }
    }

    /// The next frame of a sender that follows the protocol, or one with any numbers.
    private mutating func frame() -> (ActionsFrame, SessionSecret) {
        let secret = script.secret()
        let session = secret.session
        let expected = next[session, default: ActionNumber(1)]
        var actions: [[UInt8]] = []
        for _ in 0...script.below(6) { actions.append(script.oneIn(16) ? script.data() : Board.action(&script)) }
        guard script.oneIn(4) else {
            next[session] = expected.advanced(by: actions.count)
            let frame = ActionsFrame(
                lineage: Self.lineage,
                session: session,
                opened: opened[session] ?? JournalSequence(0),
                base: ActionNumber(1),
                first: expected,
                actions: actions
            )
            return (frame, secret)
        }
        let base: ActionNumber = script.quantity(near: ActionNumber(1))
        let lowest = script.quantity(near: base)
        let first = script.quantity(near: expected)
        if script.oneIn(2) { next[session] = first.advanced(by: actions.count) }
        let frame = ActionsFrame(
            lineage: script.lineage(),
            session: session,
            opened: script.quantity(near: opened[session] ?? JournalSequence(0)),
            base: base,
            lowest: lowest,
            first: first,
            actions: actions
        )
        return (frame, secret)
    }

    // MARK: Events of the primary

    private mutating func turn(_ budget: TurnBudget = TurnBudget()) throws(BrokenLaw) {
        let now = now
        try send { $0.turn(at: now, time: Self.time, budget, marking: NoMarks(), into: &$1) }
    }

    private mutating func turns() throws(BrokenLaw) {
        for _ in 0..<64 where engine.hasWork(at: now) { try turn() }
        try require(!engine.hasWork(at: now), "a store has work after 64 turns")
    }

    private mutating func tick(_ moment: Instant) throws(BrokenLaw) {
        now = max(now, moment)
        let now = now
        try send { $0.tick(at: now, time: Self.time, into: &$1) }
        try turn()
        try require(engine.nextDeadline > now, "a tick and a turn leave a deadline that has passed")
    }

    private mutating func request() throws(BrokenLaw) {
        lastID += 1
        switch script.below(6) {
        case 0: engine.requested(.observe(ObserverID(lastID), script.oneIn(2) ? .current : .none))
        case 1: engine.requested(.ignore(ObserverID(lastID)))
        case 2: engine.cancelled(work: UInt64(script.below(4)))
        default:
            let id = LocalID(lastID)
            awaited.insert(id)
            let work = LocalAction.Origin.effect(work: UInt64(script.below(4)), AnyID("work"))
            let origin = [LocalAction.Origin.awaited, .dispatched, work][script.below(3)]
            engine.requested(.action(LocalAction(Board.ownAction(&script), id: id, origin: origin)))
        }
    }

    /// The journal, or another thread, answers a request of the engine.
    private mutating func answerEngine() throws(BrokenLaw) {
        switch script.below(3) {
        case 0, 1:
            guard encoding else { return }
            encoding = false
            let (version, now) = (engine.published, now)
            guard !script.oneIn(8) else {
                let failure = CodingFailure(.malformed, "no")
                return try send {
                    $0.snapshotEncoded(.failure(failure), revision: version.revision, digest: 0, at: now, into: &$1)
                }
            }
            let bytes = version.state.value.encoded
            snapshots[version.revision] = bytes
            let digest = version.summary.digest
            try send {
                $0.snapshotEncoded(.success(bytes), revision: version.revision, digest: digest, at: now, into: &$1)
            }
        default:
            guard isStoringSnapshot else { return }
            isStoringSnapshot = false
            engine.snapshotStored(isStored: !script.oneIn(4))
        }
    }

    // MARK: The journal

    /// The journal stores the first `count` records.
    private mutating func store(_ count: Int) throws(BrokenLaw) {
        guard let last = try show(count) else { return }
        try send { $0.stored(through: last.sequence, into: &$1) }
    }

    /// The first `count` records may be published.
    private mutating func show(_ count: Int) throws(BrokenLaw) -> EncodedRecord? {
        let shown = records.prefix(count)
        for record in shown {
            let decoded = try decoded(record)
            do throws(CodingFailure) {
                try replayed.replay(decoded, at: record.sequence, limits: Self.limits)
            } catch {
                throw BrokenLaw("record \(record.sequence) follows the ones before: \(error)")
            }
            for session in decoded.forgotten {
                outcomes = outcomes.filter { $0.key.session != session }
                owners[session] = nil
            }
            var revision = decoded.from
            for run in decoded.runs {
                try check(run)
                for (index, entry) in run.entries.enumerated() {
                    let sent = SentAction(session: run.session, number: run.first.advanced(by: index))
                    if entry.rejection == nil { revision = revision.next }
                    let outcome = entry.rejection.map(Outcome.rejected) ?? .applied(revision)
                    let old = outcomes.updateValue(outcome, forKey: sent)
                    try require(old == nil, "number \(sent.number) of \(sent.session) is recorded twice")
                }
            }
        }
        visible += shown
        records.removeFirst(shown.count)
        return shown.last
    }

    /// A session has one user, and what is applied is what its user may send.
    private mutating func check(_ run: BatchRecord.Run) throws(BrokenLaw) {
        guard let user = run.user else { return }
        let owner = owners[run.session, default: user]
        owners[run.session] = owner
        try require(owner == user, "\(user) continues the session \(run.session) of \(owner)")
        guard user == Board.adder.user else { return }
        for entry in run.entries where entry.rejection == nil {
            try require(Board.isAdd(entry.action), "\(user) has sent another action than it may")
        }
    }

    private func decoded(_ record: EncodedRecord) throws(BrokenLaw) -> BatchRecord {
        try must("a record can be read") { try BatchRecord(decoding: record.body) }
    }

    private mutating func fill() throws(BrokenLaw) {
        guard hasJournal else { return }
        let now = now
        isResumed = false
        try send { $0.journalIsFull("no room", at: now, into: &$1) }
        try require(isResumed, "the journal accepts records again")
        records = []
        lastRecord = visible.last.map { ($0.sequence, $0.to) } ?? (base.sequence, base.head)
    }

    /// Another incarnation continues from what the journal has.
    private mutating func restart() throws(BrokenLaw) {
        guard hasJournal else { return }
        let published = engine.published
        try require(replayed.head == published.revision, "\(replayed.head) is recovered of \(published.revision)")
        try require(replayed.summary == published.summary, "\(replayed.summary) is recovered of \(published.summary)")
        let context = SnapshotContext(
            epoch: base.epoch,
            stateVersion: 1,
            summary: base.summary,
            sessions: base.sessions,
            migrations: 1
        )
        let read = try must("a context can be read") { try SnapshotContext(decoding: context.encoded) }
        epochs.append(EpochStart(epoch: epoch, revision: base.head, stateVersion: 1, time: Self.time))
        epoch = epoch.next
        base = History(lineage: Self.lineage, epoch: epoch, epochs: epochs, from: read, at: base.sequence, base.head)
        for record in visible {
            let decoded = try decoded(record)
            do throws(CodingFailure) {
                try base.replay(decoded, at: record.sequence, limits: Self.limits)
            } catch {
                throw BrokenLaw("record \(record.sequence) can be replayed again: \(error)")
            }
        }
        base.epochs.append(EpochStart(epoch: epoch, revision: base.head, stateVersion: 1, time: Self.time))
        replayed = base
        (records, visible) = ([], [])
        (awaited, asked, heard, joins, snapshots) = ([], [], [], [:], [:])
        (encoding, isStoringSnapshot) = (false, false)
        lastRecord = (base.sequence, base.head)
        engine = Self.engine(continuing: base, published.state, hasJournal: hasJournal, at: now)
        try start()
    }

    private mutating func end() throws(BrokenLaw) {
        engine.finish()
        try send { $0.end(into: &$1) }
        try require(awaited.isEmpty, "\(awaited) have no answer")
    }

    // MARK: Laws

    private mutating func send(
        _ event: (inout StoreEngine<Board>, inout StoreEngine<Board>.Directives) -> Void
    ) throws(BrokenLaw) {
        var directives: StoreEngine<Board>.Directives = []
        event(&engine, &directives)
        for directive in directives { try perform(directive) }
        for (topic, answer) in joins {
            try require(answer.end == answer.head, "the answer on \(topic) ends at \(answer.end), not \(answer.head)")
        }
    }

    private mutating func perform(_ directive: StoreDirective) throws(BrokenLaw) {
        switch directive {
        case .publish(let topic, let frame):
            let count = Message.encode(frame, to: topic.address).count
            try require(count <= Self.limits.maxFrameBytes, "a message of \(count) bytes on \(topic)")
            try published(frame, on: topic)
        case .commit(let record):
            let isNext = record.sequence == lastRecord.sequence.next && record.from == lastRecord.to
            try require(isNext && hasJournal, "record \(record.sequence) follows \(lastRecord)")
            lastRecord = (record.sequence, record.to)
            records.append(record)
        case .encodeSnapshot:
            try require(!encoding, "one snapshot is encoded at a time")
            encoding = true
        case .show(let version):
            try require(version.revision == head, "revision \(version.revision) is shown, \(head) is published")
            try require(
                Version<Board>.typed(version).state.value == document,
                "replicas have another state at \(version.revision)"
            )
        case .answer(let id, _):
            try require(awaited.remove(id) != nil, "\(id) has two answers")
        case .returnRequests(let requests):
            for case .action(let action) in requests { if let id = action.id { awaited.remove(id) } }
        case .resumeJournal: isResumed = true
        case .storeSnapshot(let snapshot): try check(snapshot)
        case .addObserver, .removeObserver, .start, .dispatch, .clearSuspect, .count, .log: break
        }
    }

    private mutating func check(_ snapshot: SnapshotToStore) throws(BrokenLaw) {
        isStoringSnapshot = !snapshot.isLast
        let context = snapshot.context
        let read = try must("a context can be read") { try SnapshotContext(decoding: context.encoded) }
        try require(read.encoded == context.encoded, "a context has two encodings")
        let version = Version<Board>.typed(snapshot.version)
        try require(version.revision == replayed.head, "a snapshot of \(version.revision), \(replayed.head) is stored")
        try require(context.summary == replayed.summary, "a snapshot has another summary than its records")
        try require(read.sessions.agrees(with: replayed.sessions), "a snapshot has other sessions than its records")
    }

    private mutating func published(_ frame: Frame, on topic: Topic) throws(BrokenLaw) {
        if case .receipts(let session) = topic {
            try require(heard.contains(session), "an answer to \(session), which is silent")
        } else {
            try require(topic == .feed || asked.contains(topic), "\(topic) was not asked for")
        }
        switch (topic, frame) {
        case (.feed, .update(let update)): try follow(update)
        case (.feed, .heartbeat(let heartbeat)):
            let isHead = (heartbeat.lineage, heartbeat.epoch, heartbeat.head) == (Self.lineage, epoch, head)
            try require(isHead, "a heartbeat at \(heartbeat.head), \(head) is published")
            try require(heartbeat.digest == Summary(of: document).digest, "replicas have another digest at \(head)")
        case (.join(_, let position), .welcome(let welcome)):
            try check(welcome, position, on: topic)
        case (.join, .update(let update)):
            try require(joins[topic]?.end == update.from, "\(update.from) does not follow on \(topic)")
            joins[topic]?.end = update.to
        case (.snapshot(_, let revision, let index), .chunk(let chunk)):
            let start = Int(index) * Self.limits.chunkBytes
            let bytes = snapshots[revision, default: []].dropFirst(start).prefix(Self.limits.chunkBytes)
            try require(bytes == chunk.bytes && !bytes.isEmpty, "\(topic) has other bytes")
        case (.receipts(let session), .receipts(let receipts)): try check(receipts, of: session)
        case (.receipts(let session), .watermark(let watermark)):
            opened[session] = watermark.opened
            next[session] = watermark.number?.next ?? next[session]
            let isOfEpoch = (watermark.lineage, watermark.epoch) == (Self.lineage, epoch)
            try require(isOfEpoch, "\(watermark) is of another epoch")
        case (.receipts(let session), .expected(let expected)): next[session] = expected.number
        case (.receipts, .refusal), (.join, .refusal), (.snapshot, .refusal), (.schema, .schema): break
        default: throw BrokenLaw("\(frame) is published on \(topic)")
        }
    }

    private mutating func follow(_ update: Update) throws(BrokenLaw) {
        try require((update.lineage, update.epoch) == (Self.lineage, epoch), "\(update) is of another epoch")
        try require(update.from == head && update.to > head, "an update from \(update.from) at \(head)")
        let isDurable = !hasJournal || update.to <= replayed.head
        try require(isDurable, "\(update.to) is published, \(replayed.head) is durable")
        do throws(CodingFailure) {
            try Patch(decoding: update.patch).apply(to: &document)
        } catch {
            throw BrokenLaw("the patch to \(update.to) can be applied: \(error)")
        }
        head = update.to
    }

    private mutating func check(_ welcome: Welcome, _ position: Position?, on topic: Topic) throws(BrokenLaw) {
        try require((welcome.lineage, welcome.epoch) == (Self.lineage, epoch), "\(welcome) is of another epoch")
        try require(welcome.head == head, "a welcome to \(welcome.head) at \(head)")
        guard let start = welcome.offer?.revision ?? position?.revision else {
            throw BrokenLaw("a joiner without a position gets no snapshot")
        }
        if let offer = welcome.offer {
            let bytes = snapshots[offer.revision, default: []]
            try require(offer.bytes == bytes.count && offer.bytes > 0, "the offer of \(start) has \(offer.bytes) bytes")
        } else {
            try require(position?.lineage == Self.lineage, "a joiner of another lineage gets no snapshot")
        }
        joins[topic] = (start, welcome.head)
    }

    /// Receipts report outcomes that a restart recovers. Their messages may be dropped.
    private func check(_ receipts: Receipts, of session: SessionID) throws(BrokenLaw) {
        try require((receipts.lineage, receipts.epoch) == (Self.lineage, epoch), "receipts are of another epoch")
        guard hasJournal else { return }
        for run in receipts.outcomes.runs {
            for index in 0..<run.count {
                let number = run.first.advanced(by: index)
                let known = outcomes[SentAction(session: session, number: number)]
                let isSame =
                    switch (run.outcome(of: number), known) {
                    case (.applied(let revision), .applied(let recorded)?): revision == recorded
                    case (.rejected(let rejection), .rejected(let recorded)?): rejection.code == recorded.code
                    default: false
                    }
                try require(isSame, "number \(number) is reported as \(run.outcome), and is \(known as Any)")
            }
        }
    }
}

private struct NoMarks: ReductionMarking {
    func begin(_ session: SessionID, _ number: ActionNumber) {}
    func end() {}
}

// MARK: The store

/// The state of the store under test.
struct Board: Codable, Hashable, Sendable {
    private var total = 0
    private var names: [String: Int] = [:]
    private var notes: [String] = []

    private struct Add: Action { var amount: Int }
    private struct Put: Action {
        var name: String
        var value: Int?
    }
    private struct Note: Action {
        var text: String
        var count: Int
    }

    static let program: StoreProgram<Board> = {
        let table: ActionTable
        do { table = try ActionTable([Add.self, Put.self, Note.self]) } catch { preconditionFailure("\(error)") }
        let refusing = Middleware<Board>.policy { action, _ in
            guard let action = action as? Add, action.amount < 0 else { return }
            throw Rejection(.refused, String(repeating: "r", count: min(100, -max(-100, action.amount))))
        }
        return StoreProgram(
            table,
            reducer: Reducer { board, action -> Effect in board.apply(action) },
            middleware: [refusing],
            dispatcher: NoDispatcher()
        )
    }()

    /// A user who may send one of the actions only.
    static let adder = FrameSender(user: "adder", sendingTo: Topic.store, actions: [Add.name])

    static func isAdd(_ action: [UInt8]) -> Bool { (try? program.table.decode(action)) is Add }

    private mutating func apply(_ action: any Action) -> Effect {
        switch action {
        case let action as Add:
            total &+= action.amount
            return action.amount == 7 ? .cancel(id: "work") : .none
        case let action as Put: names[action.name] = action.value
        case let action as Note:
            // Some are too large for an update, or make the state too large for a snapshot.
            notes.append(String(repeating: action.text, count: min(64, max(0, action.count))))
            if action.count == 0 { notes.removeAll() }
        default: break
        }
        return .none
    }

    /// An encoded action.
    static func action(_ script: inout Script) -> [UInt8] {
        do {
            switch ownAction(&script) {
            case let action as Add: return try ActionTable.encode(action)
            case let action as Put: return try ActionTable.encode(action)
            case let action as Note: return try ActionTable.encode(action)
            default: return []
            }
        } catch { preconditionFailure("\(error)") }
    }

    static func ownAction(_ script: inout Script) -> any Action {
        let number = script.below(128)
        switch script.below(4) {
        case 0: return Put(name: "n\(number % 8)", value: number > 100 ? nil : number)
        case 1: return Note(text: String(repeating: "n", count: number / 4), count: number % 24)
        default: return Add(amount: number - 8)
        }
    }

    /// The value that replicas have.
    var value: Value {
        do { return try Value(decoding: StateEncoder().encode(self)) } catch { preconditionFailure("\(error)") }
    }
}

private struct NoDispatcher: ActionDispatcher {
    func dispatch(_ action: any Action) {}
}
