extension Array {
    /// Takes an action through the middlewares, the first one outermost, and to `reduce` unless one keeps it.
    ///
    /// - Returns: the value that a middleware answers with, or why the action was not reduced.
    package func pass<State>(
        _ action: any Action,
        in store: MiddlewareStore<State>,
        misuse: (Misuse) -> Void,
        to reduce: (any Action) -> Void
    ) -> Result<(any Sendable)?, Rejection> where Element == Middleware<State> {
        var isReduced = false
        do {
            let value = try pass(action, at: startIndex, in: store, misuse: misuse) { action in
                isReduced = true
                reduce(action)
            }
            guard isReduced || value != nil else { throw Rejection.swallowed(action) }
            return .success(value)
        } catch {
            guard !isReduced else {
                // It is in the state by now; saying otherwise would be wrong.
                misuse(.rejectedTooLate(action: type(of: action).name, error: "\(error)"))
                return .success(nil)
            }
            return .failure(error as? Rejection ?? Rejection(.refused, "\(type(of: action).name): \(error)"))
        }
    }

    private func pass<State>(
        _ action: any Action,
        at index: Int,
        in store: MiddlewareStore<State>,
        misuse: (Misuse) -> Void,
        to reduce: (any Action) -> Void
    ) throws -> (any Sendable)? where Element == Middleware<State> {
        guard index < endIndex else {
            if type(of: action).isForMiddleware { misuse(.untakenByMiddleware(action: type(of: action).name)) }
            reduce(action)
            return nil
        }
        var isPassedOn = false
        return try self[index].body(action, store) { action in
            guard !isPassedOn else {
                misuse(.nextCalledTwice(action: type(of: action).name))
                return nil
            }
            isPassedOn = true
            return try pass(action, at: index + 1, in: store, misuse: misuse, to: reduce)
        }
    }
}

extension Rejection {
    package static func swallowed(_ action: any Action) -> Rejection {
        Rejection(.swallowed, "a middleware took \(type(of: action).name) and did not pass it on")
    }
}
