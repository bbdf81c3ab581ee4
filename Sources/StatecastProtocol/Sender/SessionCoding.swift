import StatecastCoding
import StatecastCore

// The parts of sessions and their changes in session files.

extension SessionCheckpoint {
    func write(to writer: inout CBORWriter) {
        writer.array(count: 3)
        writer.write(secret)
        if let registration {
            writer.array(count: 4)
            writer.write(registration.lineage)
            writer.write(registration.opened)
            writer.write(registration.base)
            writer.write(registration.resolvedBy)
        } else {
            writer.null()
        }
        writer.write(first)
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(3)
        secret = try reader.secret()
        registration = try reader.optional { reader throws(CodingFailure) in
            try reader.fixedArray(4)
            return Registration(
                lineage: try reader.lineage(),
                opened: try reader.quantity(),
                base: try reader.quantity(),
                resolvedBy: try reader.quantity()
            )
        }
        first = try reader.quantity()
    }
}

extension CBORWriter {
    mutating func write(_ mark: InputMark) {
        array(count: 2)
        unsigned(mark.position)
        unsigned(UInt64(mark.digest))
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
    init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(2)
        self.init(session: try reader.session(), number: try reader.quantity())
    }
}

extension CBORReader {
    mutating func mark() throws(CodingFailure) -> InputMark {
        try fixedArray(2)
        return InputMark(position: try unsigned(), digest: UInt32(truncatingIfNeeded: try unsigned()))
    }

    mutating func position() throws(CodingFailure) -> Position {
        let lineage = try lineage()
        let epoch: Epoch = try quantity()
        return Position(lineage: lineage, epoch: epoch, revision: try quantity())
    }
}
