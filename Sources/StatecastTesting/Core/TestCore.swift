public import StatecastCore

/// A core for tests: every change of the state and every action that comes back from an effect is asserted.
///
/// Effects do their work, but the actions they send wait until the test calls `receive`. So the test decides the order
/// of reductions, and has the same result each time.
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
/// Exhaustive: a field that changes without `change`, an action that is not received, and an effect that does not end
/// are issues at the line of the call. ``isExhaustive`` turns that off.
///
/// It belongs to one test and cannot be sent to another task; only effects run beside the test.
public final class TestCore<State: Equatable & Sendable> {
    /// The state after the last action that was sent or received.
    public private(set) var state: State
    /// The time that the reducer and middlewares see. Only the test changes it, such as by
    /// ``advance(by:fileID:filePath:line:column:)``.
    public var time: Timestamp
    /// Whether all that happens must be asserted.
    ///
    /// If not, `change` sets only the fields of interest to their expected values, `receive` reduces the actions before
    /// the one that it waits for, and `finish` cancels running effects.
    public var isExhaustive: Bool
    /// A guard against waiting for ever: when it ends, that is an issue. A test that passes never waits for its end.
    public var patience: Duration
    private let reducer: Reducer<State>
    private let middleware: MiddlewareChain<State>
    private let pending: PendingActions
    private let clock = TestEffectClock()
    private let effects: EffectRunner
    private var revision: UInt64 = 0
    /// The shape of each part of an effect that was started, by its number.
    private var parts: [EffectShape] = []
    private var isFinished = true
    private let origin: CallSite

    /// A core with a state at revision 0.
    ///
    /// - Parameters:
    ///   - state: the initial state.
    ///   - reducer: the reducer to test.
    ///   - middleware: the middlewares, the first one outermost. The test has to receive the actions that they
    ///     dispatch.
    ///   - time: the initial time.
    ///   - initialEffect: the effect to start with, given the state.
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
        let pending = PendingActions()
        self.state = state
        self.reducer = reducer
        self.middleware = MiddlewareChain(middleware)
        self.time = time
        self.isExhaustive = isExhaustive
        self.patience = patience
        self.pending = pending
        effects = EffectRunner(clock: clock) { pending.enqueue($0) }
        origin = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        start(initialEffect(state), of: "the initial effect", atStart: 1)
    }

    deinit {
        if isExhaustive, !isFinished {
            origin.report("The test did not wait for this core's effects: call finish() last.")
        }
        end()
    }

    private func end() {
        effects.cancelAll()
        pending.clear()
    }
}

extension TestCore {
    // MARK: Sending

    /// Sends an action and asserts its changes.
    ///
    /// Receive the actions of `.dispatch` effects and middlewares first, since any core reduces them before a later
    /// action. The actions that an effect sends at its own pace may come before or after: the test decides.
    ///
    /// - Parameters:
    ///   - session: the session in the action's context.
    ///   - user: the user in the action's context.
    ///   - code: the code with which a middleware rejects the action; nil if it passes.
    ///   - change: makes the old state the expected one; without it the state stays the same.
    /// - Returns: the reply of a middleware, such as a thunk.
    @discardableResult
    public func send(
        _ action: any Action,
        session: String? = nil,
        user: String? = nil,
        rejected code: Rejection.Code? = nil,
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column,
        change: (inout State) -> Void = { _ in }
    ) async -> (any Sendable)? {
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        let name = type(of: action).name
        receiveImmediates(before: name, at: site)
        let old = state
        let result = reduce(action, context: ActionContext(time: time, session: session, user: user), at: site)
        compare(old, change, after: name, at: site)
        return compare(result, code, of: name, at: site)
    }

    private func receiveImmediates(before name: String, at site: CallSite) {
        guard isExhaustive else {
            while let action = pending.dequeue(where: \.isImmediate) { _ = reduce(action, at: site) }
            return
        }
        let missed = pending.current.wanted.filter(\.isImmediate).map(\.name)
        guard !missed.isEmpty else { return }
        site.report(
            "A core reduces actions sent before \(name) first. Receive first: \(missed.joined(separator: ", "))."
        )
    }

    // MARK: Receiving

    /// Waits for an action of a type from an effect, reduces it, and asserts its changes.
    ///
    /// Among the actions that effects have sent at their own pace it receives the first that matches, since a core may
    /// reduce them in any order. The actions of `.dispatch` effects and middlewares have to be received in order.
    ///
    /// - Parameters:
    ///   - code: the code with which a middleware rejects the action; nil if it passes.
    ///   - change: makes the old state the expected one; without it the state stays the same.
    /// - Returns: the action; nil if it did not come, which is an issue.
    @discardableResult
    public func receive<Received: Action>(
        _ type: Received.Type,
        rejected code: Rejection.Code? = nil,
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column,
        change: (inout State) -> Void = { _ in }
    ) async -> Received? {
        let expected = ExpectedAction(name: Received.name) { $0 is Received }
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        return await receive(expected, code, at: site, change) as? Received
    }

    /// Waits for exactly this action, as for one of a type.
    ///
    /// If another one of its type comes instead, the issue shows the difference, and that one is reduced.
    public func receive(
        _ action: some Action,
        rejected code: Rejection.Code? = nil,
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column,
        change: (inout State) -> Void = { _ in }
    ) async {
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        _ = await receive(ExpectedAction(action), code, at: site, change)
    }

    /// Waits for an action that `matches`, as for one of a type.
    ///
    /// - Parameter matches: whether an action is the expected one; called on any thread.
    @discardableResult
    public func receive(
        where matches: @escaping @Sendable (_ action: any Action) -> Bool,
        rejected code: Rejection.Code? = nil,
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column,
        change: (inout State) -> Void = { _ in }
    ) async -> (any Action)? {
        let expected = ExpectedAction(name: "an action that matches", matches: matches)
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        return await receive(expected, code, at: site, change)
    }

    private func receive(
        _ expected: ExpectedAction,
        _ code: Rejection.Code?,
        at site: CallSite,
        _ change: (inout State) -> Void
    ) async -> (any Action)? {
        guard let received = await next(expected, at: site) else { return nil }
        let old = state
        let result = reduce(received, at: site)
        compare(old, change, after: received.name, at: site)
        _ = compare(result, code, of: received.name, at: site)
        return received.action
    }

    private func next(_ expected: ExpectedAction, at site: CallSite) async -> PendingAction? {
        while true {
            switch await search(for: expected) {
            case .found(let action): return action
            case .skipped(let other): _ = reduce(other, at: site)
            case .preceded(let other) where !expected.resembles(other.action):
                site.report(
                    "Expected to receive \(expected.name), but \(other.name) was sent before: receive that first."
                )
                return nil
            case .preceded, .never, nil: return substitute(for: expected, at: site)
            }
        }
    }

    /// Waits until the expected action has come or cannot come any more; nil if the patience ends before.
    private func search(for expected: ExpectedAction) async -> SearchResult? {
        // A middleware may dispatch from a task of its own, which is not among the running parts.
        let (isOrdered, isKnown) = (isExhaustive, middleware.isEmpty)
        return await pending.first(within: patience) { pending in
            if !isOrdered, let first = pending.dequeue(where: { _ in true }) {
                return expected.matches(first.action) ? .found(first) : .skipped(first)
            }
            if let due = pending.wanted.first(where: \.isImmediate), !expected.matches(due.action) {
                return .preceded(due)
            }
            if let found = pending.dequeue(where: { expected.matches($0.action) }) { return .found(found) }
            return isKnown && pending.isIdle ? .never : nil
        }
    }

    /// Reports that the expected action did not come.
    ///
    /// - Returns: an action of the same type to continue with, since the test most likely meant that one.
    private func substitute(for expected: ExpectedAction, at site: CallSite) -> PendingAction? {
        guard let action = expected.action, let actual = pending.dequeue(where: { expected.resembles($0.action) })
        else {
            site.report("Expected to receive \(expected.name), but it did not come. \(pending.current)")
            return nil
        }
        site.report(
            "Received another \(expected.name) than the expected one:\n\n"
                + describeDifference(expected: action, actual: actual.action)
        )
        return actual
    }

    // MARK: Time

    /// Moves the time forward. The actions of `Effect.delay`, `debounce` and `repeat` that become due have to be
    /// received.
    ///
    /// ```swift
    /// await core.send(SearchTextChanged(text: "Dune")) { $0.text = "Dune" }
    /// core.advance(by: .milliseconds(300))
    /// await core.receive(SearchRequested())
    /// ```
    ///
    /// An action that becomes due before the end of `duration` has to be received at its time: advance up to it,
    /// receive it, and then advance further. A delay that a sequence begins after other work counts from the end of
    /// that work, for which this function does not wait.
    public func advance(
        by duration: Duration,
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column
    ) {
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        precondition(duration >= .zero, "the time only moves forward, not by \(duration)")
        receiveImmediates(before: "the time advances", at: site)
        let (start, startTime) = (clock.now, time)
        while let deadline = Turn.run({ clock.advance(towards: start + duration) }) {
            time = startTime.advanced(by: deadline - start)
            guard deadline < start + duration else { continue }
            let due = pending.current.wanted.filter(\.isImmediate).map(\.name)
            if isExhaustive, !due.isEmpty {
                return site.report(
                    "\(due.joined(separator: ", ")) was due after \(deadline - start): advance by that, receive it, "
                        + "and then advance by the remaining \(start + duration - deadline)."
                )
            }
            receiveImmediates(before: "the time advances", at: site)
        }
        time = startTime.advanced(by: duration)
    }

    // MARK: Finishing

    /// Waits until all effects have ended, and asserts that the test has received all their actions. Call it last.
    ///
    /// Cancel an effect that never ends by an action first. It does not wait for cancelled effects.
    public func finish(
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column
    ) async {
        defer {
            isFinished = true
            end()
        }
        guard isExhaustive else { return }
        let isDone = await pending.first(within: patience) { pending -> Bool? in
            if !pending.wanted.isEmpty { return false }
            return pending.isIdle ? pending.running.isEmpty : nil
        }
        // An effect that was cancelled inside a sequence and ignores it does not count as running.
        guard isDone != true, isDone == false || effects.runningCount > 0 else { return }
        CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
            .report("Actions or effects are left. \(pending.current)")
    }

    // MARK: Turns

    /// The reply of a middleware, or its rejection.
    private typealias Outcome = Result<(any Sendable)?, Rejection>

    /// Runs an action's turn as a core does: through the middlewares to the reducer, then its effects.
    private func reduce(_ action: any Action, context: ActionContext, at site: CallSite) -> Outcome {
        var reduced: (effect: Effect, name: String)?
        let store = MiddlewareStore(context: context, dispatcher: pending) { self.state }
        let outcome = Turn.run {
            middleware.pass(action, in: store, warn: { site.report("Runtime warning: \($0)") }) { action in
                revision += 1
                reduced = (reducer.reduce(into: &state, action, context: context), type(of: action).name)
            }
        }
        if pending.current.actions.contains(where: \.isImmediate) { isFinished = false }
        if let reduced { start(reduced.effect, of: reduced.name) }
        return outcome
    }

    private func reduce(_ pending: PendingAction, at site: CallSite) -> Outcome {
        defer { pending.resolve() }
        return reduce(pending.action, context: ActionContext(time: time), at: site)
    }

    /// Starts the parts of an effect one by one, to observe the end of each.
    private func start(_ effect: Effect, of name: String, atStart number: UInt64? = nil) {
        var index = 0
        for part in effect.parts {
            guard let shape = part.shape else { continue }
            let key = IdempotencyKey(revision: revision, index: index, start: number)
            index += part.workCount
            Turn.run { start(part, shape, of: name, key: key) }
        }
        pending.dropUnwanted()
    }

    private func start(_ part: Effect, _ shape: EffectShape, of name: String, key: IdempotencyKey) {
        switch shape {
        case .cancel(let id):
            effects.start(part, key: key)
            let cancelled = parts.indices.filter { parts[$0].id == id }
            pending.forget(Set(cancelled))
        case .dispatch:
            isFinished = false
            effects.start(part, key: key)
        default:
            isFinished = false
            let number = parts.count
            parts.append(shape)
            pending.run(
                PendingActions.RunningPart(number: number, name: "\(shape) of \(name)", isTimer: shape.isTimer)
            )
            effects.start(.sequence(part, .dispatch(PendingActions.PartEnded(number: number))), key: key)
        }
    }

    // MARK: Asserting

    private func compare(_ old: State, _ change: (inout State) -> Void, after name: String, at site: CallSite) {
        var expected = isExhaustive ? old : state
        change(&expected)
        guard state != expected else { return }
        site.report(
            "The state after \(name) is not the expected one:\n\n"
                + describeDifference(expected: expected, actual: state)
        )
    }

    /// - Returns: the reply of a middleware.
    private func compare(
        _ result: Outcome,
        _ expected: Rejection.Code?,
        of name: String,
        at site: CallSite
    ) -> (any Sendable)? {
        switch (result, expected) {
        case (.success(let value), nil): return value
        case (.success(let value), let expected?):
            site.report("\(name) was not rejected; expected: \(expected).")
            return value
        case (.failure(let rejection), nil): site.report("\(name) was rejected: \(rejection)")
        case (.failure(let rejection), let expected?):
            if rejection.code != expected {
                site.report("\(name) was rejected: \(rejection); expected: \(expected).")
            }
        }
        return nil
    }
}

private enum SearchResult: Sendable {
    case found(PendingAction)
    /// Another action came first, in a core that is not exhaustive.
    case skipped(PendingAction)
    /// Another action has to be received first; it is still pending.
    case preceded(PendingAction)
    /// No running effect can send it.
    case never
}

private struct ExpectedAction: Sendable {
    let name: String
    let matches: @Sendable (any Action) -> Bool
    /// The action itself, if the test gave one.
    let action: (any Action)?

    init(name: String, matches: @escaping @Sendable (any Action) -> Bool) {
        self.name = name
        self.matches = matches
        action = nil
    }

    init(_ action: any Action) {
        name = type(of: action).name
        matches = { isSame($0, action) }
        self.action = action
    }

    /// Whether the test may mean an action that does not match.
    func resembles(_ other: any Action) -> Bool { action.map { type(of: $0) == type(of: other) } ?? false }
}
