public import StatecastCore

/// Specifies a reducer in the form given, when, then.
///
/// Exhaustive: the whole state after the actions is compared, and an unexpected effect is an issue.
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
/// It starts no effects. Test a state together with the actions of its effects in a ``TestCore``.
public struct ReducerSpec<State: Equatable> {
    private let reducer: Reducer<State>

    /// Specifies `reducer`.
    public init(_ reducer: Reducer<State>) { self.reducer = reducer }

    /// Begins a scenario with a state, at `Timestamp.epoch`, and with actions without session and user.
    public func given(_ state: State) -> ReducerScenario<State> { ReducerScenario(reducer: reducer, state: state) }
}

/// A sequence of actions and expectations; see ``ReducerSpec``.
public struct ReducerScenario<State: Equatable> {
    private let reducer: Reducer<State>
    private var context = ActionContext(time: .epoch)
    /// The state that `then` compares with: the one given, or reached by the last `then`.
    private var old: State
    /// The state that the actions so far have led to.
    public private(set) var state: State
    /// The effects of the actions since the last `then`, in order.
    public private(set) var effects: [EffectShape] = []
    private var actions: [String] = []
    private var comparesEffects = true

    fileprivate init(reducer: Reducer<State>, state: State) {
        self.reducer = reducer
        old = state
        self.state = state
    }

    /// Sets the time of the actions that follow.
    public func at(_ time: Timestamp) -> ReducerScenario { with { $0.context.time = time } }

    /// Sets the session and user of the actions that follow.
    public func from(session: String? = nil, user: String? = nil) -> ReducerScenario {
        with { scenario in
            scenario.context.session = session
            scenario.context.user = user
        }
    }

    /// From here on, `then` compares effects only if it names some.
    public func ignoringEffects() -> ReducerScenario { with { $0.comparesEffects = false } }

    /// Reduces the actions, one after another.
    public func when(_ actions: any Action...) -> ReducerScenario {
        with { scenario in
            for action in actions {
                let effect = reducer.reduce(into: &scenario.state, action, context: context)
                scenario.effects += effect.shapes
                scenario.actions.append(type(of: action).name)
            }
        }
    }

    private func with(_ change: (inout ReducerScenario) -> Void) -> ReducerScenario {
        var scenario = self
        change(&scenario)
        return scenario
    }

    /// Expects a state, and effects: none unless they are named.
    ///
    /// - Returns: the scenario, which continues with the actual state.
    @discardableResult
    public func then(
        _ expected: State,
        effects: EffectShape...,
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column
    ) -> ReducerScenario {
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        return compared(with: expected, effects: effects, at: site)
    }

    /// Expects changes since the given state (or since the last `then`), and effects: none unless they are named.
    ///
    /// - Parameter change: makes the old state the expected one; without it the state stays the same.
    /// - Returns: the scenario, which continues with the actual state.
    @discardableResult
    public func then(
        effects: EffectShape...,
        fileID: StaticString = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column,
        change: (inout State) -> Void = { _ in }
    ) -> ReducerScenario {
        var expected = old
        change(&expected)
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        return compared(with: expected, effects: effects, at: site)
    }

    private func compared(with expected: State, effects expectedEffects: [EffectShape], at site: CallSite) -> Self {
        let names = actions.isEmpty ? "no action" : actions.joined(separator: ", ")
        if state != expected {
            site.report(
                "The state after \(names) is not the expected one:\n\n"
                    + describeDifference(expected: expected, actual: state)
            )
        }
        if effects != expectedEffects, comparesEffects || !expectedEffects.isEmpty {
            site.report(
                "The effects of \(names) are not the expected ones:\n\n"
                    + describeDifference(
                        expected: expectedEffects.map(\.description),
                        actual: effects.map(\.description)
                    )
            )
        }
        return with { scenario in
            scenario.old = state
            scenario.effects = []
            scenario.actions = []
        }
    }
}
