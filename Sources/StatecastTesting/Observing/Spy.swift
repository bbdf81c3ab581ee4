public import StatecastCore

/// Records values in the order in which they come, from any thread, and lets a test wait for them.
///
/// ```swift
/// let counters = Spy<Counter>()
/// let subscription = core.observe(counters)
/// core.dispatch(CounterIncreaseRequested())
/// #expect(await counters.values(count: 2).map(\.counter) == [0, 1])
/// ```
public final class Spy<Value: Sendable>: Sendable {
    private struct Recording {
        var values: [Value] = []
        var takenCount = 0
    }

    private let recording = AwaitableValue(Recording())
    private let patience: Duration

    /// A spy without values.
    ///
    /// - Parameter patience: a guard against waiting for ever; when it ends, that is an issue.
    public init(patience: Duration = .seconds(10)) { self.patience = patience }

    /// All values so far.
    public var values: [Value] { recording.value.values }

    /// Records a value.
    public func record(_ value: Value) { recording.change { $0.values.append(value) } }

    /// Records a value: a spy can stand in for a function.
    public func callAsFunction(_ value: Value) { record(value) }

    /// The next value, in order, that no call of `next` has returned yet; waits for it.
    ///
    /// - Returns: nil only if the patience or the calling task has ended, which is an issue.
    @discardableResult
    public func next(
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column
    ) async -> Value? {
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        return await next(where: { _ in true }, named: "another value", at: site)
    }

    /// The first `count` values; waits until there are that many.
    ///
    /// - Returns: fewer only if the patience or the calling task has ended, which is an issue.
    @discardableResult
    public func values(
        count: Int,
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column
    ) async -> [Value] {
        let found = await recording.first(within: patience) { recording in
            recording.values.count >= count ? Array(recording.values.prefix(count)) : nil
        }
        if let found { return found }
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        return reportWait(for: "\(count) values", at: site)
    }

    /// The next value that `matches`; skips those before it.
    fileprivate func next(where matches: @escaping @Sendable (Value) -> Bool, named name: String, at site: CallSite)
        async -> Value?
    {
        let found = await recording.first(within: patience) { recording in
            let new = recording.values[recording.takenCount...]
            guard let index = new.firstIndex(where: matches) else { return Value?.none }
            recording.takenCount = index + 1
            return recording.values[index]
        }
        if found == nil { _ = reportWait(for: name, at: site) }
        return found
    }

    private func reportWait(for name: String, at site: CallSite) -> [Value] {
        let values = values
        site.report("Waited for \(name) until the patience of \(patience) ended. Recorded are:\n\n\(dumped(values))")
        return values
    }
}

extension StateSource {
    /// Records each state with a spy, first the current one, until the subscription is cancelled or released.
    public func observe(replay: Replay = .current, _ spy: Spy<State>) -> Subscription {
        observe(replay: replay) { spy.record($0.new) }
    }

    /// Records each change with a spy, first the replay, until the subscription is cancelled or released.
    public func observe(replay: Replay = .current, _ spy: Spy<Change<State>>) -> Subscription {
        observe(replay: replay) { spy.record($0) }
    }
}

/// A dispatcher that only records actions, for a component under test.
///
/// ```swift
/// let recorder = DispatchRecorder()
/// StepField(dispatcher: recorder).enter("5")
/// #expect(recorder.recorded(StepChangeRequested.self) == [StepChangeRequested(step: 5)])
/// ```
public final class DispatchRecorder: ActionDispatcher {
    private let spy: Spy<any Action>

    /// A recorder without actions.
    ///
    /// - Parameter patience: a guard against waiting for ever; when it ends, that is an issue.
    public init(patience: Duration = .seconds(10)) { spy = Spy(patience: patience) }

    /// All actions so far, in order.
    public var actions: [any Action] { spy.values }

    /// All actions of one type so far, in order.
    public func recorded<Recorded: Action>(_ type: Recorded.Type) -> [Recorded] {
        actions.compactMap { $0 as? Recorded }
    }

    /// Records an action.
    public func dispatch(_ action: any Action) { spy.record(action) }

    /// The next action of a type that no call of `next` has returned or skipped yet; waits for it.
    ///
    /// It skips actions of other types before it.
    ///
    /// - Returns: nil only if the patience or the calling task has ended, which is an issue.
    @discardableResult
    public func next<Recorded: Action>(
        _ type: Recorded.Type,
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column
    ) async -> Recorded? {
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        return await spy.next(where: { $0 is Recorded }, named: Recorded.name, at: site) as? Recorded
    }

    /// The first `count` actions; waits until there are that many.
    ///
    /// - Returns: fewer only if the patience or the calling task has ended, which is an issue.
    @discardableResult
    public func actions(
        count: Int,
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column
    ) async -> [any Action] {
        await spy.values(count: count, fileID: fileID, filePath: filePath, line: line, column: column)
    }
}
