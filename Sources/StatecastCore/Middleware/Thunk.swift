/// An action that is code: it reads the state, dispatches other actions, now or later, and returns a value.
///
/// It requires ``Middleware/thunk`` in a core of the same state; otherwise the core reports ``RuntimeWarning``. A thunk
/// never leaves its process: encoding it throws.
///
/// A core never re-enters: it reduces the actions that a thunk dispatches after the thunk has returned, so the thunk
/// does not see their changes. A thunk that it dispatches after them does.
///
/// ```swift
/// let wasEmpty = try await core.send(Thunk<Cart, Bool> { store in
///     store.dispatch(ItemAdded(item))
///     return store.state.items.isEmpty
/// })
/// ```
public struct Thunk<State, Value: Sendable>: Action {
    fileprivate let body: @Sendable (MiddlewareStore<State>) throws -> Value

    /// Creates a thunk.
    ///
    /// - Parameter body: runs when the core processes the thunk. A ``Rejection`` that it throws is the result of
    ///   awaiting it.
    public init(_ body: @escaping @Sendable (_ store: MiddlewareStore<State>) throws -> Value) { self.body = body }

    /// True: ``Middleware/thunk`` runs it.
    public static var isForMiddleware: Bool { true }

    /// Always throws.
    public init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: decoder.codingPath, debugDescription: Self.notCodable)
        )
    }

    /// Always throws.
    public func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
            self,
            EncodingError.Context(codingPath: encoder.codingPath, debugDescription: Self.notCodable)
        )
    }

    private static var notCodable: String {
        "a thunk is code and cannot leave its process: send a plain action and let an effect do the work"
    }
}

extension Middleware {
    /// Runs thunks of its state and answers with their values. All other actions pass.
    public static var thunk: Middleware {
        Middleware { action, store, next in
            guard type(of: action).isForMiddleware, let thunk = action as? any RunnableThunk<State> else {
                return try next(action)
            }
            return try thunk.run(in: store)
        }
    }
}

/// A thunk of a state with any value.
private protocol RunnableThunk<State>: Action {
    associatedtype State

    func run(in store: MiddlewareStore<State>) throws -> any Sendable
}

extension Thunk: RunnableThunk {
    fileprivate func run(in store: MiddlewareStore<State>) throws -> any Sendable { try body(store) }
}

extension Rejection {
    static func unanswered<State, Value>(_ thunk: Thunk<State, Value>, by answer: (any Sendable)?) -> Rejection {
        let name = type(of: thunk).name
        let found = answer.map { "a middleware answered with \(type(of: $0))" } ?? "no middleware ran it"
        return Rejection(
            .swallowed,
            "expected \(name) to return \(Value.self), but \(found): add .thunk to the core's middleware"
        )
    }
}
