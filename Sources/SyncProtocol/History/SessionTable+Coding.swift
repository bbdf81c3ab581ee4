import StateCoding

extension SessionTable {
    /// Writes what is durable, the session that was idle longest first.
    func write(to writer: inout CBORWriter) {
        writer.array(count: 3)
        writer.write(horizon)
        own.write(to: &writer)
        // Also those of which no durable outcome is remembered: what they sent must not be taken again.
        let known = byUse
        writer.array(count: known.count)
        for (id, session) in known {
            writer.array(count: 2)
            writer.write(id)
            session.write(to: &writer)
        }
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(3)
        self.init(
            horizon: try reader.quantity(),
            own: try Session(from: &reader),
            sessions: try reader.list { reader throws(CodingFailure) in
                try reader.fixedArray(2)
                return (id: try reader.session(), session: try Session(from: &reader))
            }
        )
    }
}

extension SessionTable.Session {
    fileprivate func write(to writer: inout CBORWriter) {
        let (first, outcomes) = log.outcomes(from: log.start, through: durable)
        writer.array(count: 3)
        writer.write(opened)
        writer.write(first)
        writer.write(outcomes)
    }

    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(3)
        self.init(opened: try reader.quantity(), base: try reader.quantity())
        for outcome in try reader.outcomes() { append(outcome, countMax: .max) }
        durable = taken
    }
}
