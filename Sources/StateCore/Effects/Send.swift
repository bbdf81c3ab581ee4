internal import Dispatch

/// How asynchronous work hands its results back.
public struct Send: Sendable {
    /// Names this piece of work, for services that must not do it twice.
    public let idempotencyKey: IdempotencyKey
    let run: EffectRun
    let deliver: @Sendable (EffectResult) -> Void

    /// Sends an action and returns when it has been reduced, or will not be: the work was cancelled, the core has ended,
    /// or a middleware keeps the action back.
    ///
    /// Whoever sends a stream of actions is so held back to the pace at which they are reduced.
    public func callAsFunction(_ action: any Action) async {
        await withCheckedContinuation { continuation in
            deliver(EffectResult(action: action, run: run) { continuation.resume() })
        }
        // On an idle core nothing above suspends: a loop of sends would keep its thread from all others.
        if run.isDueToYield() { await Task.yield() }
    }
}

/// How blocking work hands its results back.
public struct BlockingSend: Sendable {
    /// Names this piece of work, for services that must not do it twice.
    public let idempotencyKey: IdempotencyKey
    let run: EffectRun
    let deliver: @Sendable (EffectResult) -> Void

    /// Whether nobody waits for the work any more. What it sends from now on is dropped.
    public var isCancelled: Bool { run.isCancelled }

    /// Sends an action and blocks until it has been reduced, or will not be; see ``Send/callAsFunction(_:)``.
    public func callAsFunction(_ action: any Action) {
        let settled = DispatchSemaphore(value: 0)
        deliver(EffectResult(action: action, run: run) { settled.signal() })
        settled.wait()
    }
}
