public import StateCore

/// A core for tests: every change of the state and every action that comes back from an effect is asserted.
///
/// Effects do their work, but what they send waits until `receive` takes it. So the test says in which order actions are
/// reduced, and the same test gives the same result each time.
///
/// ```swift
/// let core = TestCore(Library(), reducer: Library.reducer(shelf: { ["Dune"] }))
/// await core.send(LoadRequested()) { $0.isLoading = true }
/// await core.receive(BooksLoaded.self) {
///     $0.isLoading = false
///     $0.books = ["Dune"]
/// }
/// await core.finish()
/// ```
///
/// Exhaustive: a field that changes and is not named in `change`, an action that nobody received, and an effect that
/// does not end are issues, shown at the line of the call. ``isExhaustive`` switches that off.
///
/// It belongs to one test and cannot be sent to another task; what runs beside the test is effects.
public final class TestCore<State: Equatable & Sendable> {
    /// The state after the last action that was sent or received.
    public internal(set) var state: State
    /// What the reducer and middlewares are told the time is. Stands still until the test sets it.
    public var time: Timestamp
    /// Whether all that happens must be asserted.
    ///
    /// If not, `change` names only the fields of interest and sets them to what they are to be, `receive` reduces what
    /// comes before the action that it waits for, and `finish` ends what still runs.
    public var isExhaustive: Bool
    /// A guard against waiting for ever: when it ends, that is an issue. It decides nothing in a test that passes, so there
    /// is no need to be sparing.
    public var patience: Duration
    let reducer: Reducer<State>
    let middleware: [Middleware<State>]
    let inbox: Inbox
    let effects: EffectRunner
    var revision: UInt64 = 0
    /// What each part of an effect that ran or runs looks like, by its number.
    var parts: [EffectShape] = []
    var isFinished = true
    private let origin: CallSite

    /// A core with a state at revision 0.
    ///
    /// - Parameters:
    ///   - state: the initial state.
    ///   - reducer: what is tested.
    ///   - middleware: what stands before the reducer, the first one outermost. What it dispatches has to be received.
    ///   - time: what the time is at first.
    ///   - initialEffect: what is to be done at the start, going by the state.
    ///   - isExhaustive: whether all that happens must be asserted.
    ///   - patience: a guard against waiting for ever; see ``patience``.
    public init(
        _ state: State,
        reducer: Reducer<State>,
        middleware: [Middleware<State>] = [],
        at time: Timestamp = .epoch,
        initialEffect: (_ state: State) -> Effect = { _ in .none },
        isExhaustive: Bool = true,
        patience: Duration = .seconds(10),
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column
    ) {
        let inbox = Inbox()
        self.state = state
        self.reducer = reducer
        self.middleware = middleware
        self.time = time
        self.isExhaustive = isExhaustive
        self.patience = patience
        self.inbox = inbox
        effects = EffectRunner { inbox.deliver($0) }
        origin = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        start(initialEffect(state), of: "the initial effect", atStart: 1)
    }

    deinit {
        if isExhaustive, !isFinished {
            origin.report("This core's effects were not seen to the end: call finish() last.")
        }
        end()
    }

    /// Ends what runs, whose actions nobody wants from then on, and drops what waits.
    func end() {
        effects.cancelAll()
        inbox.clear()
    }
}
