internal import Dispatch

/// Holds work up until the test lets it go on.
///
/// So a test says when an effect gets its answer, instead of hoping for a good moment.
///
/// ```swift
/// let answer = Gate()
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
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrivalCount = 0
    }

    private let state = Watched(State())
    private let patience: Duration

    /// A closed gate.
    ///
    /// - Parameter patience: a guard against waiting for ever for arrivals; when it ends, that is an issue.
    public init(patience: Duration = .seconds(10)) { self.patience = patience }

    /// Waits until the gate is open, or the waiting task is cancelled.
    public func wait() async {
        state.change { $0.arrivalCount += 1 }
        _ = await state.first(within: nil) { $0.isOpen ? true : nil }
    }

    /// Waits until the gate is open, and blocks the calling thread meanwhile: for the work of a blocking effect.
    @available(*, noasync, message: "Use wait() instead.")
    public func waitBlocking() {
        let opened = DispatchSemaphore(value: 0)
        Task.detached {
            await self.wait()
            opened.signal()
        }
        opened.wait()
    }

    /// Lets all go on who wait, and whoever comes from now on.
    public func open() { state.change { $0.isOpen = true } }

    /// Waits until work has come to the gate, `count` times in all, whether or not it has gone on since.
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
            "Waited for \(count) arrivals at a gate until the patience of \(patience) ended; "
                + "there were \(state.value.arrivalCount)."
        )
    }
}
