import StatecastCore

@testable import StatecastProtocol

/// A saved session, built step by step.
struct SavedBench {
    private(set) var session: SavedSession
    private var tickets: UInt64 = 0

    init() { session = SavedSession(store: Fixture.store(), Fixture.secret) }

    /// Four actions, of which the first and the third have their outcomes.
    static func full() throws -> SavedBench {
        var saved = SavedBench()
        try saved.keep(SenderBench.open().machine)
        try saved.enqueue(4)
        try saved.resolve(1, applied(1))
        try saved.resolve(3, tooLarge)
        return saved
    }

    mutating func apply(_ change: (inout SessionChange) -> Void) throws {
        var made = SessionChange()
        change(&made)
        try session.apply(made)
    }

    /// Saves the checkpoint of a machine.
    mutating func keep(_ machine: SenderMachine) throws { try apply { $0.checkpoint = machine.checkpoint } }

    /// Saves `count` further actions, each a line of the input.
    mutating func enqueue(_ count: Int, bytes: Int = 3) throws {
        for _ in 0..<count {
            tickets += 1
            var chunk = ActionChunk(first: Ticket(rawValue: tickets))
            chunk.append(Array(repeating: 7, count: bytes), mark: InputMark(position: tickets, digest: 9))
            try apply { $0.enqueue(chunk) }
        }
    }

    mutating func resolve(_ ticket: UInt64, _ outcome: ResolvedAction) throws {
        try apply { $0.resolve(ResolvedRun(Ticket(rawValue: ticket), outcome)) }
    }

    /// An outcome: applied under a number of the session.
    static func applied(_ number: UInt64, of session: SessionID = Fixture.session) -> ResolvedAction {
        ResolvedAction(
            sent: SentAction(session: session, number: ActionNumber(number)),
            .success(Fixture.position(number))
        )
    }

    /// An outcome: rejected before a number was assigned.
    static let tooLarge = ResolvedAction(sent: nil, .failure(Rejection(.tooLarge, "too large")))
}
