import SyncProtocol

/// What a sender keeps of its session, and what is on its way there.
struct ModelDisk {
    private(set) var session: SavedSession
    var saver: SessionSaver
    var unwritten: [SessionChange] = []
    private var writtenCount = 0
    private var tickets: UInt64

    init(_ session: SavedSession) {
        self.session = session
        saver = SessionSaver(session)
        tickets = session.last.rawValue
    }

    mutating func enqueue(_ action: ModelAction) -> Ticket {
        tickets += 1
        let ticket = Ticket(rawValue: tickets)
        let position = UInt64(action.serial + 1)
        saver.enqueue(
            SavedAction(ticket: ticket, position: position, bytes: action.bytes),
            mark: InputMark(position: position)
        )
        return ticket
    }

    /// Writes some of it, in order.
    mutating func write(_ count: Int) throws -> (actions: [SavedAction], standing: SessionStanding?) {
        for change in unwritten.prefix(count) {
            try session.apply(try SessionChange(decoding: change.encoded))
            session.forgetSettled()
            writtenCount += 1
        }
        unwritten.removeFirst(min(count, unwritten.count))
        return saver.written(writtenCount)
    }
}
