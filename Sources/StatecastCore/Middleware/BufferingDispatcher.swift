import StatecastThreading

/// Buffers the actions that the middlewares of one batch dispatch, until the batch is closed.
///
/// A batch may be rolled back and reduced again; the actions that were dispatched in the first pass are dropped then.
/// Afterwards the dispatcher forwards directly.
package final class BufferingDispatcher: ActionDispatcher {
    /// `nil` once nothing is buffered any more.
    private let buffer = Locked<[any Action]?>([])
    private let target: any ActionDispatcher

    package init(to target: any ActionDispatcher) { self.target = target }

    package func dispatch(_ action: any Action) {
        let isBuffered = buffer.withLock { $0?.append(action) != nil }
        if !isBuffered { target.dispatch(action) }
    }

    /// Ends the buffering.
    ///
    /// - Returns: the buffered actions, in order.
    package func end() -> [any Action] {
        buffer.withLock { buffer in
            defer { buffer = nil }
            return buffer ?? []
        }
    }
}
