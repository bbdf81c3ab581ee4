import StateCoding
import StateCore

extension SavedAction {
    /// About how many bytes it takes.
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
        switch settlement {
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
        case 2: settlement = .rejected(try reader.rejection())
        case 3:
            let lineage = try reader.lineage()
            let epoch: Epoch = try reader.quantity()
            settlement = .applied(Position(lineage: lineage, epoch: epoch, revision: try reader.quantity()))
        case let count: throw CodingFailure(.malformed, "an outcome has 2 or 3 elements, one of \(count) came")
        }
    }
}

extension SessionStanding {
    func write(to writer: inout CBORWriter) {
        writer.array(count: 3)
        writer.write(session)
        if let link {
            writer.array(count: 4)
            writer.write(link.lineage)
            writer.write(link.opened)
            writer.write(link.base)
            writer.write(link.settledBy)
        } else {
            writer.null()
        }
        writer.write(first)
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(3)
        session = try reader.session()
        link = try reader.optional { reader throws(CodingFailure) in
            try reader.fixedArray(4)
            return Link(
                lineage: try reader.lineage(),
                opened: try reader.quantity(),
                base: try reader.quantity(),
                settledBy: try reader.quantity()
            )
        }
        first = try reader.quantity()
    }
}
