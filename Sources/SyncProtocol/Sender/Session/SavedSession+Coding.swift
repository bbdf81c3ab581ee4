package import StateCoding
import StateCore

/// In CBOR, for a file that only senders read. Elements behind the known ones may come in later versions.
extension SavedSession {
    package var encoded: [UInt8] {
        var writer = CBORWriter(reserving: 128 + actions.reduce(0) { $0 + $1.byteCount })
        writer.array(count: 6)
        writer.text(store.text)
        standing.write(to: &writer)
        writer.write(mark)
        writer.bool(isInputEnded)
        writer.unsigned(last.rawValue)
        writer.array(count: actions.count)
        for action in actions { action.write(to: &writer) }
        return writer.bytes
    }

    /// - Throws: ``CodingFailure`` that says what is wrong.
    package init(decoding bytes: [UInt8]) throws(CodingFailure) {
        var reader = CBORReader(bytes)
        let count = try reader.arrayCount(atLeast: 6)
        let name = try reader.text()
        let store: StoreName
        do { store = try StoreName(name) } catch { throw CodingFailure(.malformed, error.message) }
        let standing = try SessionStanding(from: &reader)
        let mark = try reader.mark()
        let isInputEnded = try reader.bool()
        let last = Ticket(rawValue: try reader.unsigned())
        let actions = try reader.list { reader throws(CodingFailure) in try SavedAction(from: &reader) }
        for _ in 6..<count { try reader.skip() }
        try reader.requireEnd()
        for (action, ticket) in zip(actions.reversed(), sequence(first: last) { Ticket(rawValue: $0.rawValue &- 1) })
        where action.ticket != ticket {
            throw CodingFailure(
                .malformed,
                "action \(ticket.rawValue) should stand where \(action.ticket.rawValue) does"
            )
        }
        self.init(
            store: store,
            standing: standing,
            mark: mark,
            isInputEnded: isInputEnded,
            actions: actions,
            last: last
        )
    }
}

extension SessionChange {
    package var encoded: [UInt8] {
        var writer = CBORWriter(reserving: 64 + taken.reduce(0) { $0 + $1.byteCount } + 40 * settled.count)
        writer.array(count: 6)
        if let standing { standing.write(to: &writer) } else { writer.null() }
        writer.array(count: taken.count)
        for action in taken { action.write(to: &writer) }
        writer.array(count: settled.count)
        for settled in settled {
            writer.array(count: 2)
            writer.unsigned(settled.ticket.rawValue)
            settled.outcome.write(to: &writer)
        }
        if let told { writer.unsigned(told.rawValue) } else { writer.null() }
        if let mark { writer.write(mark) } else { writer.null() }
        if let isInputEnded { writer.bool(isInputEnded) } else { writer.null() }
        return writer.bytes
    }

    /// - Throws: ``CodingFailure`` that says what is wrong.
    package init(decoding bytes: [UInt8]) throws(CodingFailure) {
        var reader = CBORReader(bytes)
        let count = try reader.arrayCount(atLeast: 6)
        self.init(
            standing: try reader.optional { reader throws(CodingFailure) in try SessionStanding(from: &reader) },
            taken: try reader.list { reader throws(CodingFailure) in try SavedAction(from: &reader) },
            settled: try reader.list { reader throws(CodingFailure) in
                try reader.fixedArray(2)
                return Settled(
                    ticket: Ticket(rawValue: try reader.unsigned()),
                    outcome: try SavedOutcome(from: &reader)
                )
            },
            told: try reader.optional { reader throws(CodingFailure) in Ticket(rawValue: try reader.unsigned()) },
            mark: try reader.optional { reader throws(CodingFailure) in try reader.mark() },
            isInputEnded: try reader.optional { reader throws(CodingFailure) in try reader.bool() }
        )
        for _ in 6..<count { try reader.skip() }
        try reader.requireEnd()
    }
}

extension CBORReader {
    fileprivate mutating func arrayCount(atLeast countMin: Int) throws(CodingFailure) -> Int {
        let count = try arrayCount()
        guard count >= countMin else {
            throw CodingFailure(
                .malformed,
                "an array of at least \(countMin) elements was expected, one of \(count) came"
            )
        }
        return count
    }

    fileprivate mutating func mark() throws(CodingFailure) -> InputMark {
        try fixedArray(2)
        return InputMark(position: try unsigned(), digest: UInt32(truncatingIfNeeded: try unsigned()))
    }
}

extension CBORWriter {
    fileprivate mutating func write(_ mark: InputMark) {
        array(count: 2)
        unsigned(mark.position)
        unsigned(UInt64(mark.digest))
    }
}
