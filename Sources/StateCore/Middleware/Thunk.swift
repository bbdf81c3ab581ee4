/// An action that is a piece of code: it looks at the state, dispatches others, now or later, and returns a value.
///
/// Needs ``Middleware/thunk`` on its way; without it, or at a core with another state, it is reported as ``Misuse``. It
/// never leaves its process: encoding it is an error that says so.
///
/// ```swift
/// let wasEmpty = try await core.send(Thunk<Cart, Bool> { store in
///     store.dispatch(ItemAdded(item))
///     return store.state.items.isEmpty
/// })
/// ```
public struct Thunk<State, Value: Sendable>: Action {
    let body: @Sendable (MiddlewareStore<State>) throws -> Value

    /// A thunk that runs `body` when its turn comes; a ``Rejection`` that it throws reaches whoever awaits it.
    public init(_ body: @escaping @Sendable (_ store: MiddlewareStore<State>) throws -> Value) { self.body = body }

    /// True: ``Middleware/thunk`` runs it.
    public static var isForMiddleware: Bool { true }

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

/// A thunk of a state, whatever its value.
protocol RunnableThunk<State>: Action {
    associatedtype State

    func run(in store: MiddlewareStore<State>) throws -> any Sendable
}

extension Thunk: RunnableThunk {
    func run(in store: MiddlewareStore<State>) throws -> any Sendable { try body(store) }
}

extension Middleware {
    /// Runs thunks of its state and answers with what they return; all other actions pass.
    public static var thunk: Middleware {
        Middleware { action, store, next in
            guard type(of: action).isForMiddleware, let thunk = action as? any RunnableThunk<State> else {
                return try next(action)
            }
            return try thunk.run(in: store)
        }
    }
}

extension Rejection {
    static func unanswered<State, Value>(_ thunk: Thunk<State, Value>, by answer: (any Sendable)?) -> Rejection {
        let name = type(of: thunk).name
        let came = answer.map { "a middleware answered with \(type(of: $0))" } ?? "no middleware ran it"
        return Rejection(
            .swallowed,
            "expected \(name) to return \(Value.self), but \(came): add .thunk to the core's middleware"
        )
    }
}
