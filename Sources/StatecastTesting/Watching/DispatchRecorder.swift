public import StateCore

/// Takes actions in and only notes them: what a component under test dispatches to.
///
/// ```swift
/// let recorder = DispatchRecorder()
/// StepField(dispatcher: recorder).enter("5")
/// #expect(recorder.recorded(StepChangeRequested.self) == [StepChangeRequested(step: 5)])
/// ```
public final class DispatchRecorder: ActionDispatcher {
    private let spy: Spy<any Action>

    /// A recorder that has taken nothing in.
    ///
    /// - Parameter patience: a guard against waiting for ever; when it ends, that is an issue.
    public init(patience: Duration = .seconds(10)) { spy = Spy(patience: patience) }

    /// All actions so far, in order.
    public var actions: [any Action] { spy.values }

    /// All actions of one type so far, in order.
    public func recorded<Recorded: Action>(_ type: Recorded.Type) -> [Recorded] {
        actions.compactMap { $0 as? Recorded }
    }

    /// Notes an action.
    public func dispatch(_ action: any Action) { spy.record(action) }

    /// The next action of a type that no call of `next` has returned or passed over yet; waits for it.
    ///
    /// Actions of other types before it are passed over.
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

    /// The first `count` actions; waits until there are so many.
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
