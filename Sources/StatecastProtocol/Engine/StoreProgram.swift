package import StatecastCore

/// The functions of a store: they do not change while it is served.
package struct StoreProgram<State: Codable & Equatable & Sendable>: Sendable {
    let table: ActionTable
    let reducer: Reducer<State>
    let middleware: MiddlewareChain<State>
    /// The dispatcher that middlewares may keep. The engine passes it on and never calls it.
    let dispatcher: any ActionDispatcher

    package init(
        _ table: ActionTable,
        reducer: Reducer<State>,
        middleware: [Middleware<State>],
        dispatcher: any ActionDispatcher
    ) {
        self.table = table
        self.reducer = reducer
        self.middleware = MiddlewareChain(middleware)
        self.dispatcher = dispatcher
    }
}
