import StateCoding
import StateCore
import SyncProtocol

/// A primary's machine with a minimal shell: it reduces actions at once, and commits records when the test says so.
struct PrimaryBench {
    var machine: PrimaryMachine
    /// Records that are not durable yet.
    private(set) var records: [Record] = []
    /// The verdict on each action by number; `applied` by default.
    var verdicts: [UInt64: Verdict] = [:]
    var now = Instant.origin

    init(_ limits: Limits = Limits(), readsPast: Bool = false) {
        let summary = Summary(digest: 7, bytes: 1 << 20)
        let history = History(lineage: Fixture.lineage, epoch: Fixture.epoch, summary: summary)
        self.init(history: history, limits, readsPast: readsPast)
    }

    /// Continues a history.
    init(history: History, _ limits: Limits = Limits(), readsPast: Bool = false) {
        machine = PrimaryMachine(
            store: Fixture.store(),
            history: history,
            stateVersion: 99,
            actions: [StoreSchema.Entry(name: "add", example: nil)],
            actionsEndpoint: Fixture.endpoint,
            readsPast: readsPast,
            durability: "full",
            limits: limits,
            now: .origin
        )
    }

    /// Receives a frame with these numbers.
    @discardableResult
    mutating func push(
        _ numbers: ClosedRange<UInt64>,
        of session: SessionID = Fixture.session,
        opened: UInt64 = 0,
        base: UInt64 = 1,
        lineage: Lineage = Fixture.lineage
    ) -> [PrimaryDirective] {
        receive(
            ActionsFrame(
                lineage: lineage,
                session: session,
                opened: JournalSequence(opened),
                base: ActionNumber(base),
                first: ActionNumber(numbers.lowerBound),
                actions: numbers.map { [UInt8(truncatingIfNeeded: $0)] }
            )
        )
    }

    /// Receives a frame and resolves its admitted actions.
    @discardableResult
    mutating func receive(_ frame: ActionsFrame) -> [PrimaryDirective] {
        let (admitted, directives) = machine.admit(frame)
        if let admitted { resolve(admitted) }
        return directives
    }

    private mutating func resolve(_ admitted: AdmittedActions) {
        var number = admitted.first
        for _ in admitted.actions {
            _ = machine.resolved(admitted.session, number, verdicts[number.rawValue] ?? .applied)
            number = number.next
        }
    }

    /// Closes the batch without making it durable.
    mutating func close() {
        let patch = Fixture.patch(to: machine.reduced.rawValue)
        for case .commit(let record) in machine.close(
            patch: patch,
            summary: Summary(digest: machine.reduced.rawValue, bytes: 1 << 20)
        ) {
            records.append(record)
        }
    }

    /// Makes closed records durable, up to a number of them.
    mutating func commit(_ count: Int = .max) -> [PrimaryDirective] {
        guard let last = records.prefix(count).last else { return [] }
        records.removeFirst(min(count, records.count))
        return machine.committed(through: last.sequence, at: now)
    }

    /// Rolls back the closed records.
    mutating func rollBack() -> [(session: SessionID, frame: Refusal.PushedFrame)] {
        records = []
        return machine.rollBack()
    }

    /// Closes the batch and makes it durable.
    @discardableResult
    mutating func closeAndCommit() -> [PrimaryDirective] {
        close()
        return commit()
    }

    /// Publishes `count` updates of one action each.
    mutating func advance(by count: Int, of session: SessionID = Fixture.otherSession) {
        guard count > 0 else { return }
        let start = machine.head.rawValue + 1
        for number in start..<(start + UInt64(count)) {
            push(number...number, of: session)
            closeAndCommit()
        }
    }

    /// Joins and ends the turn.
    @discardableResult
    mutating func join(_ nonce: UInt64 = 1, from position: Position? = nil) -> [PrimaryDirective] {
        machine.subscribed(to: Self.join(nonce, position)) + serve()
    }

    @discardableResult
    mutating func serve() -> [PrimaryDirective] { machine.serve(at: now, time: Fixture.time) }

    mutating func snapshotEncoded(_ bytes: [UInt8], at revision: UInt64) {
        machine.snapshotEncoded(bytes, revision: Revision(revision), digest: revision, at: now)
    }

    static func join(_ nonce: UInt64 = 1, _ position: Position? = nil) -> Topic { .join(Nonce(bits: nonce), position) }
}

extension [PrimaryDirective] {
    /// The frames published on a topic.
    func frames(on topic: Topic) -> [Frame] {
        compactMap { directive in
            guard case .publish(topic, let frame) = directive else { return nil }
            return frame
        }
    }

    /// The receipts of a session by number.
    func receipts(of session: SessionID = Fixture.session) -> [UInt64: Outcome] {
        var outcomes: [UInt64: Outcome] = [:]
        for case .receipts(let receipts) in frames(on: .receipts(session)) {
            for (offset, outcome) in receipts.outcomes.list.enumerated() {
                outcomes[receipts.outcomes.start.rawValue + UInt64(offset)] = outcome
            }
        }
        return outcomes
    }

    func watermarks(of session: SessionID = Fixture.session) -> [Watermark] {
        frames(on: .receipts(session)).compactMap { if case .watermark(let watermark) = $0 { watermark } else { nil } }
    }

    func expected(of session: SessionID = Fixture.session) -> [UInt64] {
        frames(on: .receipts(session)).compactMap {
            if case .expected(let expected) = $0 { expected.number.rawValue } else { nil }
        }
    }

    func refusals(on topic: Topic) -> [Refusal] {
        frames(on: topic).compactMap { if case .refusal(let refusal) = $0 { refusal } else { nil } }
    }

    func refusals(of session: SessionID = Fixture.session) -> [Rejection.Code] {
        refusals(on: .receipts(session)).map(\.reason.code)
    }

    func updates(on topic: Topic = .feed) -> [Update] {
        frames(on: topic).compactMap { if case .update(let update) = $0 { update } else { nil } }
    }

    func welcome(on topic: Topic) -> Welcome? {
        guard case .welcome(let welcome)? = frames(on: topic).first else { return nil }
        return welcome
    }

    /// The topics of the published frames, in order.
    var topics: [Topic] { compactMap { if case .publish(let topic, _) = $0 { topic } else { nil } } }

    var snapshotsOrdered: Int { count { $0 == .encodeSnapshot } }

    var heartbeats: [Heartbeat] {
        frames(on: .feed).compactMap { if case .heartbeat(let heartbeat) = $0 { heartbeat } else { nil } }
    }
}
