import StateCoding
import StateCore
import SyncProtocol
import Testing

/// A session file of format 1 has single actions and outcomes where format 2 has chunks and runs.
@Suite struct `A saved session of format 1` {
    @Test(arguments: seeds(0..<300))
    func `is read as the same session of format 2`(seed: UInt64) throws {
        var history = RandomSession(seed: seed)
        var (read, written) = (try SavedSession(decoding: history.first), history.session)
        #expect(read == written)
        for _ in 0..<30 {
            let (bytes, change) = history.change()
            let decoded = try SessionChange(decoding: bytes)
            try read.apply(decoded)
            try written.apply(try SessionChange(decoding: change.encoded))
            if history.dropsResolved {
                read.dropResolved(after: decoded)
                written.dropResolved(after: change)
            }
            #expect(read == written)
            #expect(read.actions == history.actions)
            #expect(read.outstandingCount == history.actions.count { $0.outcome == nil })
            #expect(try SavedSession(decoding: history.first) == SavedSession(decoding: history.session.encoded))
            // A sender continues both alike.
            let (one, two) = (SenderBench(resuming: read), SenderBench(resuming: written))
            #expect(one.machine.pendingCount == two.machine.pendingCount)
            #expect(one.machine.checkpoint == two.machine.checkpoint)
        }
    }
}

/// Random changes in both formats.
private struct RandomSession {
    private var generator: SeededGenerator
    let dropsResolved: Bool
    private(set) var actions: [SavedAction] = []
    private var last: UInt64 = 0
    private let empty = SavedSession(store: Fixture.store(), Fixture.secret)

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        dropsResolved = generator.oneIn(2)
    }

    /// The session after the changes.
    var session: SavedSession {
        var session = empty
        var change = SessionChange()
        var chunk = ActionChunk(first: Ticket(rawValue: 1))
        for ticket in 1..<(last - UInt64(actions.count) + 1) {
            chunk.append([])
            change.resolve(ResolvedRun(Ticket(rawValue: ticket), Self.outcome(ticket)))
        }
        for action in actions {
            chunk.append(action.bytes, mark: action.position.map { InputMark(position: $0) })
            if let outcome = action.outcome { change.resolve(ResolvedRun(action.ticket, outcome)) }
        }
        if !chunk.isEmpty { change.enqueue(chunk) }
        if last > UInt64(actions.count) { change.acknowledge(upTo: Ticket(rawValue: last - UInt64(actions.count))) }
        change.endInput(at: InputMark(position: 3, digest: 4))
        do { try session.apply(change) } catch { preconditionFailure("\(error)") }
        return session
    }

    /// The session after the changes, in format 1.
    var first: [UInt8] {
        Value.array([
            .text(Fixture.store().text),
            .array([.bytes(Self.bits(Fixture.secret)), .null, .unsigned(1)]),
            .array([.unsigned(3), .unsigned(4)]), .bool(true), .unsigned(last),
            .array(actions.map(Self.value)),
        ]).encoded
    }

    /// The next change, in format 1 and as it is now.
    mutating func change() -> (bytes: [UInt8], change: SessionChange) {
        var change = SessionChange()
        var (enqueued, resolved): ([Value], [Value]) = ([], [])
        for _ in 0..<generator.below(3) {
            var chunk = ActionChunk(first: Ticket(rawValue: last + 1))
            for _ in 0...generator.below(5) {
                last += 1
                let bytes = generator.bytes(below: generator.oneIn(9) ? 400 : 30)
                let position = generator.oneIn(2) ? last * 10 : nil
                let isVerdict = generator.oneIn(8)
                let verdict = Rejection(.malformed, "no action")
                let mark = position.map { InputMark(position: $0) }
                if isVerdict { chunk.append(invalid: verdict, mark: mark) } else { chunk.append(bytes, mark: mark) }
                let action = SavedAction(
                    ticket: Ticket(rawValue: last),
                    position: position,
                    bytes: isVerdict ? [] : bytes,
                    outcome: isVerdict ? ResolvedAction(sent: nil, .failure(verdict)) : nil
                )
                enqueued.append(Self.value(action))
                actions.append(action)
            }
            change.enqueue(chunk)
        }
        for index in actions.indices where actions[index].outcome == nil && generator.oneIn(3) {
            let outcome = Self.outcome(actions[index].ticket.rawValue)
            actions[index] = actions[index].resolved(outcome)
            change.resolve(ResolvedRun(actions[index].ticket, outcome))
            resolved.append(.array([.unsigned(actions[index].ticket.rawValue), Self.value(outcome)]))
        }
        var acknowledged = Value.null
        let count = actions.prefix { $0.outcome != nil }.count
        if count > 0, generator.oneIn(2) {
            let last = actions[generator.below(count)].ticket
            change.acknowledge(upTo: last)
            acknowledged = .unsigned(last.rawValue)
            actions.removeAll { $0.ticket <= last }
        }
        if dropsResolved { actions.removeFirst(actions.prefix { $0.outcome != nil }.count) }
        change.endInput(at: InputMark(position: 3, digest: 4))
        let mark = Value.array([.unsigned(3), .unsigned(4)])
        let bytes = Value.array([.null, .array(enqueued), .array(resolved), acknowledged, mark, .bool(true)]).encoded
        return (bytes, change)
    }

    /// Odd tickets are applied in another session, even ones are rejected.
    private static func outcome(_ ticket: UInt64) -> ResolvedAction {
        guard !ticket.isMultiple(of: 2) else {
            return ResolvedAction(sent: nil, .failure(Rejection(.tooLarge, "action \(ticket)")))
        }
        let sent = SentAction(session: Fixture.otherSession, number: ActionNumber(ticket))
        return ResolvedAction(sent: sent, .success(Fixture.position(ticket)))
    }

    private static func value(_ action: SavedAction) -> Value {
        .array([
            .unsigned(action.ticket.rawValue), action.position.map { .unsigned($0) } ?? .null, .bytes(action.bytes),
            action.outcome.map(value) ?? .null,
        ])
    }

    private static func value(_ outcome: ResolvedAction) -> Value {
        // The secret stands for the session, as for the other one above.
        let sent = outcome.sent.map { sent in
            Value.array([.bytes(bits(Fixture.otherSecret)), .unsigned(sent.number.rawValue)])
        }
        switch outcome.result {
        case .success(let position):
            let lineage = withUnsafeBytes(of: position.lineage.bits.bigEndian, Array.init)
            let (epoch, revision) = (position.epoch.rawValue, position.revision.rawValue)
            return .array([sent ?? .null, .array([.bytes(lineage), .unsigned(epoch), .unsigned(revision)])])
        case .failure(let rejection):
            return .array([sent ?? .null, .array([.text(rejection.code.rawValue), .text(rejection.message)])])
        }
    }

    private static func bits(_ secret: SessionSecret) -> [UInt8] {
        withUnsafeBytes(of: secret.high.bigEndian, Array.init) + withUnsafeBytes(of: secret.low.bigEndian, Array.init)
    }
}

extension SavedAction {
    fileprivate func resolved(_ outcome: ResolvedAction) -> SavedAction {
        SavedAction(ticket: ticket, position: position, bytes: bytes, outcome: outcome)
    }
}
