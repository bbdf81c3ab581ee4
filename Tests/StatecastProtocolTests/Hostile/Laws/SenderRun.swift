import StatecastCore

@testable import StatecastCoding
@testable import StatecastProtocol

/// Laws of a sender whatever it receives: a run of its machine, whose events a script decides.
struct SenderRun {
    private static let limits = {
        var limits = Limits()
        limits.maxWindowActions = 12
        limits.maxWindowBytes = 256
        limits.frameBytesTarget = 96
        limits.minFrameBytes = 16
        limits.maxFrameBytes = 1024
        limits.maxActionBytes = 64
        return limits
    }()

    /// A session file, with the changes that are not written yet.
    private struct File {
        var session: SavedSession
        var unwritten: [SessionChange] = []
        var writtenCount = 0
        /// Whether outcomes are kept until they are acknowledged.
        let keepsOutcomes: Bool
    }

    private var script: Script
    private var machine: SenderMachine
    private var now = Instant.origin
    private var subscriptions = Subscriptions()
    private var file: File?
    private var schemaRequests = 0
    private var lastTicket = Ticket(rawValue: 0)
    /// The tickets without a final outcome.
    private var pending: Set<Ticket> = []
    /// The actions that were reported as never sent.
    private var unsent: Set<Ticket> = []
    /// The actions by the numbers under which they were pushed.
    private var pushed: [SentAction: Ticket] = [:]
    private var watermarks: [Watermark] = []
    /// Whether the session cannot be saved any more, which ends the sender.
    private var hasFailed = false

    static func check(_ script: Script) throws(BrokenLaw) {
        var script = script
        let isSaved = script.oneIn(2)
        var file: File?
        if isSaved {
            let session = SavedSession(store: Topic.store, SessionSecret(high: 1, low: 2))
            file = File(session: session, keepsOutcomes: script.oneIn(2))
        }
        var run = SenderRun(script, file)
        try run.start()
        while !run.script.isAtEnd, !run.hasFailed { try run.step() }
        try run.stop()
    }

    /// A saved session can be resumed: its actions are pushed, and get their outcomes.
    static func check(resuming session: SavedSession) throws(BrokenLaw) {
        var run = SenderRun(Script([]), File(session: session, keepsOutcomes: false))
        try run.start()
        for _ in 0..<4 {
            let lineage = session.checkpoint.registration?.lineage ?? Lineage(bits: 0xA1)
            try run.receive(.watermark(run.watermark(nil, of: lineage)), on: run.topic)
            try run.push(.max)
            try run.write(.max)
            try run.push(.max)
            let outcomes = run.machine.outbox.first
            if let applied = OutcomeRun(first: outcomes, count: 100, outcome: .applied(Revision(1))) {
                var runs = OutcomeRuns(first: applied.first)
                runs.append(applied.outcome, count: applied.count)
                try run.receive(.receipts(Receipts(lineage: lineage, epoch: Epoch(1), outcomes: runs)), on: run.topic)
            }
        }
        try run.stop()
    }

    private init(_ script: Script, _ file: File?) {
        (self.script, self.file) = (script, file)
        if let session = file?.session {
            machine = SenderMachine(resuming: session, limits: Self.limits, now: .origin)
            lastTicket = session.last
            pending = Set(session.actions.lazy.filter { $0.outcome == nil }.map(\.ticket))
        } else {
            machine = SenderMachine(SessionSecret(high: 1, low: 2), limits: Self.limits, now: .origin)
        }
    }

    private mutating func start() throws(BrokenLaw) { try perform(machine.start(at: now, using: &script)) }

    private mutating func step() throws(BrokenLaw) {
        switch script.below(19) {
        case 0, 1: try submit(1 + script.below(6))
        case 2, 3: try push(1 + script.below(4))
        case 4: try perform(machine.blocked(at: now, using: &script))
        case 5: try perform(machine.writable(at: now, using: &script))
        case 6: try tick(at: machine.nextDeadline ?? now)
        case 7: try tick(at: now.advanced(by: .milliseconds(16 * script.below(256))))
        case 8, 9: try receive(.watermark(watermark()), on: topic)
        case 10, 11: try receive(.receipts(receipts()), on: topic)
        case 12: try receive(.expected(expected()), on: topic)
        case 13: try receive(.refusal(refusal()), on: script.oneIn(8) ? .schema : topic)
        case 14: try receiveAnyBytes()
        case 15: try giveUp(Ticket(rawValue: script.number(near: lastTicket.rawValue)))
        case 16: try write(1 + script.below(4))
        case 17: try useSchema()
        default: try useFile()
        }
    }

    private var topic: Topic { .receipts(machine.session) }

    // MARK: Events

    private mutating func tick(at moment: Instant) throws(BrokenLaw) {
        now = max(now, moment)
        try perform(machine.tick(at: now, using: &script))
        if let next = machine.nextDeadline { try require(next > now, "a tick leaves a deadline that has passed") }
    }

    private mutating func submit(_ count: Int) throws(BrokenLaw) {
        var chunk = ActionChunk(first: lastTicket.next)
        for _ in 0..<count {
            let ticket = chunk.end
            let mark = file.map { _ in InputMark(position: ticket.rawValue, digest: 1) }
            pending.insert(ticket)
            switch script.byte() {
            case 0..<200: chunk.append(Self.action(of: ticket, bytes: 8), mark: mark)
            case 200..<250: chunk.append(Self.action(of: ticket, bytes: 8 + script.below(120)), mark: mark)
            default: chunk.append(invalid: Rejection(.undecodable, "no action"), mark: mark)
            }
        }
        lastTicket = chunk.last
        try perform(machine.submitted(chunk))
    }

    /// An action that names its ticket.
    private static func action(of ticket: Ticket, bytes: Int) -> [UInt8] {
        (0..<max(8, bytes)).map { UInt8(truncatingIfNeeded: ticket.rawValue >> (8 * UInt64($0 % 8))) }
    }

    /// Pushes up to `count` frames.
    private mutating func push(_ count: Int) throws(BrokenLaw) {
        try perform(machine.save())
        var count = count
        while count > 0, let frame = machine.nextFrame {
            try check(frame)
            try perform(machine.pushed(frame, at: now, using: &script))
            count -= 1
        }
    }

    private mutating func receive(_ frame: Frame, on topic: Topic) throws(BrokenLaw) {
        if case .watermark(let watermark) = frame { watermarks.append(watermark) }
        try perform(machine.received(frame, on: topic, at: now, using: &script))
    }

    /// A frame that is any bytes, on a topic that the sender subscribed to, or a message that is any bytes.
    private mutating func receiveAnyBytes() throws(BrokenLaw) {
        let topic = script.element(of: subscriptions.topics) ?? topic
        let bytes = script.oneIn(4) ? script.data() : topic.address.bytes + script.data()
        guard let (address, frame) = try? Message.decode(bytes) else { return }
        try receive(frame, on: address.topic)
    }

    private mutating func giveUp(_ ticket: Ticket) throws(BrokenLaw) {
        guard ticket.rawValue >= 1, ticket <= lastTicket else { return }
        for directive in machine.giveUp(ticket, because: "late") {
            guard case .resolve(let runs) = directive else { throw BrokenLaw("giving up causes \(directive)") }
            for run in runs {
                try require(run.first == ticket && run.count == 1, "\(ticket) was given up, \(run) is reported")
                if run.code == .notSent {
                    // One that is sent again in another session was not applied in the one before.
                    let isPushed = pushed.contains { $0.value == ticket && $0.key.session == machine.session }
                    try require(!isPushed, "\(ticket) was pushed, and is reported as not sent")
                    try resolve(ticket, run)
                }
            }
        }
    }

    /// The file has the first `count` changes.
    private mutating func write(_ count: Int) throws(BrokenLaw) {
        guard let file else { return }
        for change in file.unwritten.prefix(count) {
            let read = try must("a change can be read") { try SessionChange(decoding: change.encoded) }
            do throws(CodingFailure) { try self.file?.session.apply(read) } catch {
                throw BrokenLaw("a change follows its session: \(error)")
            }
            if !file.keepsOutcomes { self.file?.session.dropResolved(after: read) }
        }
        let count = min(count, file.unwritten.count)
        self.file?.unwritten.removeFirst(count)
        self.file?.writtenCount += count
        try perform(machine.saved(file.writtenCount + count))
    }

    private mutating func useFile() throws(BrokenLaw) {
        guard let file else { return }
        switch script.below(4) {
        case 0:
            let ticket = Ticket(rawValue: script.number(near: 0))
            // A caller acknowledges the outcomes that it has.
            guard file.keepsOutcomes, ticket <= lastTicket, pending.allSatisfy({ $0 > ticket }) else { return }
            try perform(machine.acknowledge(upTo: ticket))
        case 1: try perform(machine.inputEnded(at: InputMark(position: lastTicket.rawValue, digest: 1)))
        case 2:
            guard script.oneIn(4) else { return }
            let failure = SaveFailure("no room", mayBeSaved: script.oneIn(2))
            try perform(machine.saved(file.writtenCount, failure: failure))
        default: if script.oneIn(4) { try resume() }
        }
    }

    /// The process crashes, and the next one resumes the session of the file.
    private mutating func resume() throws(BrokenLaw) {
        guard var file else { return }
        let session = file.session
        let read = try must("a session can be read") { try SavedSession(decoding: session.encoded) }
        try require(read == session, "\(session) is read as \(read)")
        try must("a saved session can be resumed") { try read.requireResumable() }
        (file.session, file.unwritten, file.writtenCount) = (read, [], 0)
        var next = SenderRun(script, file)
        // Actions that were pushed and are not in the file would be sent twice.
        next.pushed = pushed
        let lost = pushed.values.filter { $0 > read.last }
        try require(lost.isEmpty, "\(lost) were pushed, and the file ends at \(read.last)")
        (next.now, next.watermarks) = (now, watermarks)
        self = next
        try start()
    }

    private mutating func useSchema() throws(BrokenLaw) {
        if schemaRequests > 0, script.oneIn(2) {
            schemaRequests -= 1
            return try perform(machine.cancelSchemaRequest())
        }
        schemaRequests += 1
        try perform(machine.requestSchema())
    }

    private mutating func stop() throws(BrokenLaw) {
        try perform(machine.stop(because: "the run ends"))
        try require(pending.isEmpty, "\(pending) have no outcome")
        try require(machine.stop(because: "again").isEmpty, "a sender stops once")
    }

    // MARK: Frames

    private mutating func watermark() -> Watermark {
        let number: ActionNumber? = script.oneIn(2) ? nil : script.quantity(near: machine.outbox.first)
        return watermark(number, of: script.lineage())
    }

    private mutating func watermark(_ number: ActionNumber?, of lineage: Lineage) -> Watermark {
        Watermark(
            lineage: lineage,
            epoch: script.quantity(),
            number: number,
            opened: script.quantity(),
            maxWindowActions: script.oneIn(4) ? script.count() : 16,
            maxActionBytes: script.oneIn(8) ? script.count() : 64,
            maxFrameBytes: script.oneIn(8) ? Int(script.number() & 0xFFFF) : 1024,
            endpoint: script.oneIn(8) ? "tcp://b:1" : "tcp://*:1"
        )
    }

    private mutating func receipts() -> Receipts {
        let lineage = script.lineage()
        let epoch: Epoch = script.quantity()
        return Receipts(lineage: lineage, epoch: epoch, outcomes: script.outcomes(near: machine.outbox.first))
    }

    private mutating func expected() -> Expected {
        Expected(lineage: script.lineage(), number: script.quantity(near: machine.outbox.first))
    }

    private mutating func refusal() -> Refusal {
        let frame =
            script.oneIn(2)
            ? nil
            : Refusal.PushedFrame(
                opened: machine.registration?.saved.opened ?? script.quantity(),
                first: script.quantity(near: machine.outbox.first)
            )
        let reason = script.rejection()
        return Refusal(reason, retryAfter: script.oneIn(2) ? script.duration() : nil, frame: frame)
    }

    // MARK: Laws

    private mutating func perform(_ directives: [SenderDirective]) throws(BrokenLaw) {
        for directive in directives {
            switch directive {
            case .subscribe(let topic): try subscriptions.subscribe(to: topic)
            case .unsubscribe(let topic): try subscriptions.unsubscribe(from: topic)
            case .reconnect: subscriptions = Subscriptions()
            case .connect(let endpoint):
                try require(endpoint == watermarks.last?.endpoint, "\(endpoint) is not the endpoint of the watermark")
                let refusal = Rejection(.endpointRefused, "no")
                let result: Result<String, Rejection> = script.oneIn(8) ? .failure(refusal) : .success(endpoint)
                try perform(machine.connected(result, at: now, using: &script))
            case .save(let change):
                try require(file != nil, "a session without a file is saved")
                file?.unwritten.append(change)
            case .resolve(let runs): for run in runs { try resolve(run) }
            case .giveUp(let runs, _):
                // Those of a session file may have their outcome; the first one counts.
                for run in runs { try resolve(run, isLast: file != nil) }
            case .answerSchema:
                try require(schemaRequests > 0, "the schema was not requested")
                schemaRequests = 0
            case .fail: hasFailed = true
            case .reuse, .status, .count, .close: break
            }
        }
        let topics = subscriptions.topics
        let allowed: Set<Topic> = [.receipts(machine.session), .schema]
        // The subscription to an abandoned session's receipts ends with the next request.
        try require(topics.count <= 2 && topics.filter { !allowed.contains($0) }.count <= 1, "subscribed to \(topics)")
        if file == nil, !machine.isStopped {
            let count = machine.pendingCount
            try require(count == pending.count, "\(count) actions are pending, \(pending.count) have no outcome")
        }
    }

    private mutating func resolve(_ run: ResolvedRun, isLast: Bool = false) throws(BrokenLaw) {
        try require(run.first.rawValue >= 1 && run.end <= lastTicket.next, "\(run) was not submitted")
        for index in 0..<run.count {
            let ticket = run.first.advanced(by: index)
            if isLast, !pending.contains(ticket) { continue }
            try resolve(ticket, run)
        }
    }

    private mutating func resolve(_ ticket: Ticket, _ run: ResolvedRun) throws(BrokenLaw) {
        try require(pending.remove(ticket) != nil, "\(ticket) has two outcomes, one is \(run)")
        guard let sent = run.outcome(of: ticket).sent else {
            unsent.insert(ticket)
            return
        }
        // A session that is resumed does not know what was pushed before.
        let isKnown = pushed[sent].map { $0 == ticket } ?? (file != nil)
        try require(isKnown, "\(ticket) has the outcome of number \(sent.number), which it was not sent under")
    }

    private mutating func check(_ frame: OutgoingFrame) throws(BrokenLaw) {
        let header = frame.header
        let message = CBORWriter.bytes { writer in
            writer.encoded(Topic.actions.address.bytes)
            frame.write(to: &writer)
        }
        guard case .store(_, let read) = FrameRouter(stores: [Topic.store]).actions(message) else {
            throw BrokenLaw("a primary drops the frame \(header)")
        }
        let limits = Self.limits
        guard let watermark = machine.registration?.watermark, watermarks.contains(watermark) else {
            throw BrokenLaw("a frame is pushed without a watermark")
        }
        try require(header.lineage == watermark.lineage, "a frame of \(header.lineage) is pushed to another lineage")
        let maxBytes = min(limits.maxFrameBytes, watermark.maxFrameBytes)
        try require(message.count <= maxBytes, "a frame of \(message.count) bytes exceeds \(maxBytes)")
        let maxWindow = min(limits.maxWindowActions, watermark.maxWindowActions)
        let window = header.first.advanced(by: header.count).distance(beyond: header.lowest)
        try require(window <= maxWindow, "\(window) actions are outstanding, at most \(maxWindow) may be")
        // The primary may forget the outcomes of lower numbers.
        let waiting = pushed.filter { $0.key.session == header.session && pending.contains($0.value) }.map(\.key.number)
        let needed = [waiting.min(), file?.session.checkpoint.firstNeeded(in: header.session)].compactMap(\.self).min()
        try require(header.lowest <= needed ?? header.first, "\(header) gives up number \(needed as Any)")
        for (index, action) in read.contents.enumerated() {
            let sent = SentAction(session: header.session, number: header.first.advanced(by: index))
            // One that was sent before may have more than the latest watermark allows.
            if sent.number >= machine.outbox.next {
                let maxCount = watermark.maxActionBytes
                try require(action.count <= maxCount, "an action has \(action.count) bytes, at most \(maxCount)")
            }
            try check(action, sent)
        }
    }

    private mutating func check(_ action: [UInt8], _ sent: SentAction) throws(BrokenLaw) {
        // An action that this run made names its ticket.
        let bits = action.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let ticket = Ticket(rawValue: bits)
        guard Self.action(of: ticket, bytes: action.count) == action, ticket.rawValue >= 1, ticket <= lastTicket else {
            return try require(file != nil, "\(action) was not submitted")
        }
        let old = pushed.updateValue(ticket, forKey: sent)
        try require(old == nil || old == ticket, "number \(sent.number) was \(old as Any), and is now \(ticket)")
        try require(!unsent.contains(ticket), "\(ticket) is pushed, and was reported as not sent")
    }
}

extension SessionCheckpoint {
    /// The first number whose outcome a sender needs that resumes this session.
    fileprivate func firstNeeded(in session: SessionID) -> ActionNumber? { session == self.session ? first : nil }
}
