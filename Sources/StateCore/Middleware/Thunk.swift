/// An action that is a piece of code: it looks at the state, dispatches others, now or later, and returns a value.
///
/// Needs ``Middleware/thunk`` on its way. It never leaves its process: encoding it is an error that says so.
///
/// ```swift
/// let wasEmpty = try await core.send(Thunk<Cart> { store in
///     store.dispatch(ItemAdded(item))
///     return store.state.items.isEmpty
/// })
/// ```
public struct Thunk<State>: Action {
    let body: @Sendable (MiddlewareStore<State>) throws -> (any Sendable)?

    /// A thunk that runs `body` when its turn comes; a ``Rejection`` that it throws reaches whoever awaits it.
    public init<Value: Sendable>(_ body: @escaping @Sendable (_ store: MiddlewareStore<State>) throws -> Value) {
        self.body = { try body($0) }
    }

    /// Always throws: code cannot be read from data.
    public init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: decoder.codingPath, debugDescription: Self.staysHere)
        )
    }

    /// Always throws: code cannot be written as data.
    public func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
            self,
            EncodingError.Context(codingPath: encoder.codingPath, debugDescription: Self.staysHere)
        )
    }

    private static var staysHere: String {
        "a thunk is code and cannot leave its process: send a plain action and let an effect do the work"
    }
}

extension Middleware {
    /// Runs thunks and answers with what they return; all other actions pass.
    public static var thunk: Middleware {
        Middleware { action, store, next in
            guard let thunk = action as? Thunk<State> else { return try next(action) }
            return try thunk.body(store)
        }
    }
}
