package import StateCoding
import StateCore

/// A saved action, which is kept until its outcome is not needed any more.
package struct SavedAction: Hashable, Sendable {
    package let ticket: Ticket
    /// Its position in the sender's input, if known.
    package let position: UInt64?
    /// The encoded action; empty for a piece of input that is not an action.
    package let bytes: [UInt8]
    package let outcome: SavedOutcome?

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
    package var checkpoint: SessionCheckpoint?
    /// The submitted actions.
    package private(set) var chunks: [ActionChunk] = []
    package private(set) var resolved: [ResolvedRun] = []
    /// The outcomes up to this ticket are not needed any more.
    package private(set) var acknowledged: Ticket?
    package private(set) var mark: InputMark?
    package private(set) var isInputEnded: Bool?

    package init() {}

    package var isEmpty: Bool { self == SessionChange() }

    package mutating func enqueue(_ chunk: ActionChunk) {
        resolved += chunk.invalidInputs.map(\.outcome)
        chunks.append(chunk)
        mark = chunk.marks.last?.mark ?? mark
        isInputEnded = false
    }

    package mutating func resolve(_ run: ResolvedRun) { resolved.append(run) }

    package mutating func acknowledge(upTo ticket: Ticket) { acknowledged = max(acknowledged ?? ticket, ticket) }

    package mutating func endInput(at mark: InputMark) { (self.mark, isInputEnded) = (mark, true) }

    /// Appends later changes.
    package mutating func merge(_ later: SessionChange) {
        checkpoint = later.checkpoint ?? checkpoint
        chunks += later.chunks
        resolved += later.resolved
        if let acknowledged = later.acknowledged { acknowledge(upTo: acknowledged) }
        mark = later.mark ?? mark
        isInputEnded = later.isInputEnded ?? isInputEnded
    }
}

// MARK: Coding

/// The encoding in CBOR: an array of 8 elements. In files of format 1 it has 6, and contains single actions and their
/// outcomes instead of chunks and runs.
extension SessionChange {
    package var encoded: [UInt8] {
        let size = chunks.reduce(0) { $0 + $1.bytes.count + 32 + 24 * $1.marks.count }
        var writer = CBORWriter(reserving: 64 + size + 64 * resolved.count)
        writer.array(count: 8)
        if let checkpoint { checkpoint.write(to: &writer) } else { writer.null() }
        writer.array(count: 0)
        writer.array(count: 0)
        if let acknowledged { writer.unsigned(acknowledged.rawValue) } else { writer.null() }
        if let mark { writer.write(mark) } else { writer.null() }
        if let isInputEnded { writer.bool(isInputEnded) } else { writer.null() }
        writer.array(count: chunks.count)
        for chunk in chunks { chunk.write(from: chunk.first, to: &writer) }
        writer.array(count: resolved.count)
        for run in resolved { run.write(to: &writer) }
        return writer.bytes
    }

    /// - Throws: ``CodingFailure`` that names the malformed part.
    package init(decoding bytes: [UInt8]) throws(CodingFailure) {
        var reader = CBORReader(bytes)
        let count = try reader.arrayCount(atLeast: 6)
        checkpoint = try reader.optional { reader throws(CodingFailure) in try SessionCheckpoint(from: &reader) }
        (chunks, resolved) = try reader.savedActions()
        resolved += try reader.list { reader throws(CodingFailure) in
            try reader.fixedArray(2)
            let ticket = Ticket(rawValue: try reader.unsigned())
            return ResolvedRun(ticket, try SavedOutcome(from: &reader))
        }
        acknowledged = try reader.optional { reader throws(CodingFailure) in Ticket(rawValue: try reader.unsigned()) }
        mark = try reader.optional { reader throws(CodingFailure) in try reader.mark() }
        isInputEnded = try reader.optional { reader throws(CodingFailure) in try reader.bool() }
        if count >= 8 {
            chunks += try reader.list { reader throws(CodingFailure) in try ActionChunk(from: &reader) }
            resolved += try reader.list { reader throws(CodingFailure) in try ResolvedRun(from: &reader) }
        }
        for _ in (count >= 8 ? 8 : 6)..<count { try reader.skip() }
        try reader.requireEnd()
    }
}

extension ActionChunk {
    /// Writes the actions from a ticket on, which the chunk has.
    func write(from ticket: Ticket, to writer: inout CBORWriter) {
        let skipped = ticket.distance(beyond: first)
        let start = offset(after: skipped, from: 0)
        let marks = marks.filter { $0.ticket >= ticket }
        writer.array(count: 4)
        writer.unsigned(ticket.rawValue)
        writer.write(count: count - skipped)
        if start == 0 { writer.bytes(bytes) } else { writer.bytes(Array(bytes[start...])) }
        writer.array(count: marks.count)
        for mark in marks {
            writer.array(count: 2)
            writer.unsigned(mark.ticket.rawValue)
            writer.write(mark.mark)
        }
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(4)
        let first = Ticket(rawValue: try reader.unsigned())
        let count = try reader.count()
        let bytes = try reader.bytes()
        let marks = try reader.list { reader throws(CodingFailure) in
            try reader.fixedArray(2)
            return InputProgress(ticket: Ticket(rawValue: try reader.unsigned()), mark: try reader.mark())
        }
        guard let chunk = ActionChunk(first: first, count: count, bytes: bytes, marks: marks) else {
            throw CodingFailure(.malformed, "expected \(count) actions from \(first.rawValue) on, got other bytes")
        }
        self = chunk
    }
}

extension ResolvedRun {
    func write(to writer: inout CBORWriter) {
        writer.array(count: 4)
        writer.unsigned(first.rawValue)
        writer.write(count: count)
        if let sent {
            writer.array(count: 2)
            writer.write(sent.session)
            writer.write(sent.number)
        } else {
            writer.null()
        }
        switch kind {
        case .applied(let position):
            writer.array(count: 3)
            writer.write(position.lineage)
            writer.write(position.epoch)
            writer.write(position.revision)
        case .rejected(let rejection):
            writer.array(count: 2)
            writer.write(rejection)
        case .unknown(let cause):
            writer.array(count: 1)
            writer.text(cause)
        }
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(4)
        let first = Ticket(rawValue: try reader.unsigned())
        let count = try reader.count()
        guard count >= 1 else { throw CodingFailure(.malformed, "a run of outcomes has at least one action, got 0") }
        let sent = try reader.optional { reader throws(CodingFailure) in try SentAction(from: &reader) }
        switch try reader.arrayCount() {
        case 1: self.init(first, count: count, sent: sent, .unknown(because: try reader.text()))
        case 2: self.init(first, count: count, sent: sent, .rejected(try reader.rejection()))
        case 3 where sent != nil: self.init(first, count: count, sent: sent, .applied(try reader.position()))
        case let size: throw CodingFailure(.malformed, "an outcome has 1 to 3 elements and a number, got \(size)")
        }
    }
}

extension SentAction {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(2)
        self.init(session: try reader.session(), number: try reader.quantity())
    }
}

extension CBORReader {
    fileprivate mutating func position() throws(CodingFailure) -> Position {
        let lineage = try lineage()
        let epoch: Epoch = try quantity()
        return Position(lineage: lineage, epoch: epoch, revision: try quantity())
    }

    /// Reads the actions of a file of format 1.
    mutating func savedActions() throws(CodingFailure) -> (chunks: [ActionChunk], resolved: [ResolvedRun]) {
        let actions = try list { reader throws(CodingFailure) in try SavedAction(from: &reader) }
        var (chunks, resolved): ([ActionChunk], [ResolvedRun]) = ([], [])
        for action in actions {
            if chunks.last?.end != action.ticket { chunks.append(ActionChunk(first: action.ticket)) }
            let mark = action.position.map { InputMark(position: $0) }
            chunks[chunks.count - 1].append(action.bytes, mark: mark)
            if let outcome = action.outcome { resolved.append(ResolvedRun(action.ticket, outcome)) }
        }
        return (chunks, resolved)
    }
}

/// The encoding of single actions in files of format 1.
extension SavedAction {
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
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
    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(2)
        sent = try reader.optional { reader throws(CodingFailure) in try SentAction(from: &reader) }
        switch (try reader.arrayCount(), sent) {
        case (2, _): resolution = .rejected(try reader.rejection())
        case (3, _?): resolution = .applied(try reader.position())
        case (let count, _): throw CodingFailure(.malformed, "an outcome has 2 or 3 elements, got \(count)")
        }
    }
}
