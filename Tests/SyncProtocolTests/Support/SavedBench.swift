import StateCore
import SyncProtocol

/// A session as it is kept, made step by step.
struct SavedBench {
    private(set) var session: SavedSession
    private var tickets: UInt64 = 0

    init() { session = SavedSession(store: Fixture.store(), session: Fixture.session) }

    mutating func apply(_ change: (inout SessionChange) -> Void) throws {
        var made = SessionChange()
        change(&made)
        try session.apply(made)
    }

    /// Keeps where a machine stands.
    mutating func keep(_ machine: SenderMachine) throws { try apply { $0.standing = machine.standing } }

    /// Keeps so many more actions, each a line of the input.
    mutating func enqueue(_ count: Int, bytes: Int = 3) throws {
        for _ in 0..<count {
            tickets += 1
            let action = SavedAction(
                ticket: Ticket(rawValue: tickets),
                position: tickets,
                bytes: Array(repeating: 7, count: bytes)
            )
            try apply { $0.enqueue(action, mark: InputMark(position: action.position ?? 0, digest: 9)) }
        }
    }

    mutating func resolve(_ ticket: UInt64, _ outcome: SavedOutcome) throws {
        try apply { $0.resolve(Ticket(rawValue: ticket), outcome) }
    }

    /// Applied, as a number of the session.
    static func applied(_ number: UInt64, of session: SessionID = Fixture.session) -> SavedOutcome {
        SavedOutcome(
            sent: SentAction(session: session, number: ActionNumber(number)),
            settlement: .applied(Fixture.position(number))
        )
    }

    /// Refused before it got a number.
    static let tooLarge = SavedOutcome(sent: nil, settlement: .rejected(Rejection(.tooLarge, "too large")))
}
