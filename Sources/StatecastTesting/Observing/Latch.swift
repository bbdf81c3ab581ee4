import Dispatch

/// Suspends work until the test opens it: a one-shot latch that stays open.
///
/// With it a test decides when an effect gets its answer.
///
/// ```swift
/// let answer = Latch()
/// let shelf = { @Sendable in
///     await answer.wait()
///     return ["Dune"]
/// }
/// let core = TestCore(Library(), reducer: Library.reducer(shelf: shelf))
/// await core.send(LoadRequested()) { $0.isLoading = true }
/// await answer.reached()
/// await core.send(LoadCancelled()) { $0.isLoading = false }
/// await core.finish()
/// ```
public final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var arrivalCount = 0
        /// One for each thread that waits.
        var blockedThreads: [DispatchSemaphore] = []
    }

    private let state = AwaitableValue(State())
    private let patience: Duration

    /// A closed latch.
    ///
    /// - Parameter patience: a guard against waiting for ever in ``reached(count:fileID:filePath:line:column:)``; when
    ///   it ends, that is an issue.
    public init(patience: Duration = .seconds(10)) { self.patience = patience }

    /// Waits until the latch is open, or the waiting task is cancelled.
    public func wait() async {
        state.change { $0.arrivalCount += 1 }
        _ = await state.first(within: nil) { $0.isOpen ? true : nil }
    }

    /// Waits until the latch is open and blocks the calling thread, for the work of a blocking effect.
    ///
    /// In a task it does not wait, which is an issue: it would block a thread of Swift's pool.
    @available(*, noasync, message: "Use wait() instead.")
    public func waitBlocking(
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column
    ) {
        guard withUnsafeCurrentTask(body: { $0 == nil }) else {
            return CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
                .report("waitBlocking() would block a thread that tasks need. In a task, call wait().")
        }
        let opened = DispatchSemaphore(value: 0)
        state.change { state in
            state.arrivalCount += 1
            if state.isOpen { opened.signal() } else { state.blockedThreads.append(opened) }
        }
        opened.wait()
    }

    /// Opens the latch: resumes all waiters, and lets later ones pass.
    public func open() {
        state.change { state in
            state.isOpen = true
            for opened in state.blockedThreads { opened.signal() }
            state.blockedThreads = []
        }
    }

    /// Waits until `count` calls of `wait` have begun, whether or not they have returned.
    public func reached(
        count: Int = 1,
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column
    ) async {
        let isReached = await state.first(within: patience) { $0.arrivalCount >= count ? true : nil }
        guard isReached == nil else { return }
        CallSite(fileID: fileID, filePath: filePath, line: line, column: column).report(
            "Waited for \(count) arrivals at a latch until the patience of \(patience) ended; "
                + "there were \(state.value.arrivalCount)."
        )
    }
}
