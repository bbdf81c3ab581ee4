package import StateCoding
import StateCore

/// A saved action, kept until its outcome is not needed any more.
package struct SavedAction: Hashable, Sendable {
    package let ticket: Ticket
    /// Its position in the sender's input, if known.
    package let position: UInt64?
    /// The encoded action; empty for a piece of input that is not an action.
    package let bytes: [UInt8]
    package internal(set) var outcome: SavedOutcome?

    package init(ticket: Ticket, position: UInt64?, bytes: [UInt8], outcome: SavedOutcome? = nil) {
        self.ticket = ticket
        self.position = position
        self.bytes = bytes
        self.outcome = outcome
    }
}

/// The outcome of an action, and its identity on the wire; `nil` if it was never sent.
package struct SavedOutcome: Hashable, Sendable {
    package let sent: SentAction?
    package let resolution: Resolution

    package init(sent: SentAction?, resolution: Resolution) {
        self.sent = sent
        self.resolution = resolution
    }
}

/// The changes of a session since it was last saved. They are saved as a unit.
package struct SessionChange: Hashable, Sendable {
    /// The outcome of an action.
    package struct Resolved: Hashable, Sendable {
        package let ticket: Ticket
        package let outcome: SavedOutcome
    }

    package var standing: SessionCheckpoint?
    package private(set) var enqueued: [SavedAction] = []
    package private(set) var resolved: [Resolved] = []
    /// The outcomes up to this ticket are not needed any more.
    package private(set) var acknowledged: Ticket?
    package private(set) var mark: InputMark?
    package private(set) var isInputEnded: Bool?

    package init() {}

    init(
        standing: SessionCheckpoint?,
        enqueued: [SavedAction],
        resolved: [Resolved],
        acknowledged: Ticket?,
        mark: InputMark?,
        isInputEnded: Bool?
    ) {
        self.standing = standing
        self.enqueued = enqueued
        self.resolved = resolved
        self.acknowledged = acknowledged
        self.mark = mark
        self.isInputEnded = isInputEnded
    }

    package var isEmpty: Bool { self == SessionChange() }

    package mutating func enqueue(_ action: SavedAction, mark: InputMark?) {
        enqueued.append(action)
        self.mark = mark ?? self.mark
        isInputEnded = false
    }

    package mutating func resolve(_ ticket: Ticket, _ outcome: SavedOutcome) {
        resolved.append(Resolved(ticket: ticket, outcome: outcome))
    }

    package mutating func enqueue(_ chunk: ActionChunk) {
        var offset = 0
        var (marks, verdicts) = (chunk.marks[...], chunk.verdicts[...])
        for index in 0..<chunk.count {
            let ticket = chunk.first.advanced(by: index)
            let content = chunk.action(at: offset)
            offset = content.upperBound
            let mark = marks.first?.ticket == ticket ? marks.removeFirst().mark : nil
            let verdict = verdicts.first?.ticket == ticket ? verdicts.removeFirst().rejection : nil
            let outcome = verdict.map { SavedOutcome(sent: nil, resolution: .rejected($0)) }
            let bytes = Array(chunk.bytes[content])
            enqueue(SavedAction(ticket: ticket, position: mark?.position, bytes: bytes, outcome: outcome), mark: mark)
        }
    }

    package mutating func resolve(_ run: ResolvedRun) {
        for index in 0..<run.count {
            let ticket = run.first.advanced(by: index)
            resolve(ticket, run.outcome(of: ticket))
        }
    }

    package mutating func acknowledge(upTo ticket: Ticket) { acknowledged = max(acknowledged ?? ticket, ticket) }

    package mutating func endInput(at mark: InputMark) { (self.mark, isInputEnded) = (mark, true) }

    /// Appends later changes.
    package mutating func merge(_ later: SessionChange) {
        standing = later.standing ?? standing
        enqueued += later.enqueued
        resolved += later.resolved
        if let acknowledged = later.acknowledged { acknowledge(upTo: acknowledged) }
        mark = later.mark ?? mark
        isInputEnded = later.isInputEnded ?? isInputEnded
    }
}

extension SessionChange {
    package var encoded: [UInt8] {
        var writer = CBORWriter(reserving: 64 + enqueued.reduce(0) { $0 + $1.byteCount } + 40 * resolved.count)
        writer.array(count: 6)
        if let standing { standing.write(to: &writer) } else { writer.null() }
        writer.array(count: enqueued.count)
        for action in enqueued { action.write(to: &writer) }
        writer.array(count: resolved.count)
        for resolved in resolved {
            writer.array(count: 2)
            writer.unsigned(resolved.ticket.rawValue)
            resolved.outcome.write(to: &writer)
        }
        if let acknowledged { writer.unsigned(acknowledged.rawValue) } else { writer.null() }
        if let mark { writer.write(mark) } else { writer.null() }
        if let isInputEnded { writer.bool(isInputEnded) } else { writer.null() }
        return writer.bytes
    }

    /// - Throws: ``CodingFailure`` that names the malformed part.
    package init(decoding bytes: [UInt8]) throws(CodingFailure) {
        var reader = CBORReader(bytes)
        let count = try reader.arrayCount(atLeast: 6)
        self.init(
            standing: try reader.optional { reader throws(CodingFailure) in try SessionCheckpoint(from: &reader) },
            enqueued: try reader.list { reader throws(CodingFailure) in try SavedAction(from: &reader) },
            resolved: try reader.list { reader throws(CodingFailure) in
                try reader.fixedArray(2)
                return Resolved(
                    ticket: Ticket(rawValue: try reader.unsigned()),
                    outcome: try SavedOutcome(from: &reader)
                )
            },
            acknowledged: try reader.optional { reader throws(CodingFailure) in Ticket(rawValue: try reader.unsigned())
            },
            mark: try reader.optional { reader throws(CodingFailure) in try reader.mark() },
            isInputEnded: try reader.optional { reader throws(CodingFailure) in try reader.bool() }
        )
        for _ in 6..<count { try reader.skip() }
        try reader.requireEnd()
    }
}

extension SavedAction {
    /// The approximate encoded size.
    var byteCount: Int { bytes.count + 24 + (outcome == nil ? 0 : 40) }

    func write(to writer: inout CBORWriter) {
        writer.array(count: 4)
        writer.unsigned(ticket.rawValue)
        if let position { writer.unsigned(position) } else { writer.null() }
        writer.bytes(bytes)
        if let outcome { outcome.write(to: &writer) } else { writer.null() }
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(4)
        self.init(
            ticket: Ticket(rawValue: try reader.unsigned()),
            position: try reader.optional { reader throws(CodingFailure) in try reader.unsigned() },
            bytes: try reader.bytes(),
            outcome: try reader.optional { reader throws(CodingFailure) in try SavedOutcome(from: &reader) }
        )
    }
}

extension SavedOutcome {
    func write(to writer: inout CBORWriter) {
        writer.array(count: 2)
        if let sent {
            writer.array(count: 2)
            writer.write(sent.session)
            writer.write(sent.number)
        } else {
            writer.null()
        }
        switch resolution {
        case .applied(let position):
            writer.array(count: 3)
            writer.write(position.lineage)
            writer.write(position.epoch)
            writer.write(position.revision)
        case .rejected(let rejection):
            writer.array(count: 2)
            writer.write(rejection)
        }
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(2)
        sent = try reader.optional { reader throws(CodingFailure) in
            try reader.fixedArray(2)
            return SentAction(session: try reader.session(), number: try reader.quantity())
        }
        switch try reader.arrayCount() {
        case 2: resolution = .rejected(try reader.rejection())
        case 3:
            let lineage = try reader.lineage()
            let epoch: Epoch = try reader.quantity()
            resolution = .applied(Position(lineage: lineage, epoch: epoch, revision: try reader.quantity()))
        case let count: throw CodingFailure(.malformed, "an outcome has 2 or 3 elements, got \(count)")
        }
    }
}
