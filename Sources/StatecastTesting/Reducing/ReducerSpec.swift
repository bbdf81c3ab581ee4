public import StateCore

/// Specifies a reducer in the form given, when, then.
///
/// Exhaustive: the whole state after the actions is compared, and an effect that nobody expected is an issue.
///
/// ```swift
/// ReducerSpec(Library.reducer(shelf: { [] }))
///     .given(Library())
///     .when(LoadRequested())
///     .then(effects: .run(id: "load")) { $0.isLoading = true }
///     .when(BooksLoaded(books: ["Dune"]))
///     .then {
///         $0.isLoading = false
///         $0.books = ["Dune"]
///     }
/// ```
///
/// No work is done here. How a state fares together with what its effects send is for a ``TestCore``.
public struct ReducerSpec<State: Equatable> {
    private let reducer: Reducer<State>

    /// Specifies `reducer`.
    public init(_ reducer: Reducer<State>) { self.reducer = reducer }

    /// Begins a scenario with a state, at ``Timestamp/epoch``, and with actions that come from nobody.
    public func given(_ state: State) -> ReducerScenario<State> { ReducerScenario(reducer: reducer, state: state) }
}
