public import StateCore

/// One course of actions through a reducer; see ``ReducerSpec``.
public struct ReducerScenario<State: Equatable> {
    private let reducer: Reducer<State>
    private var context = ActionContext(time: .epoch)
    /// The state that `then` compares with: the one given, or reached by the last `then`.
    private var old: State
    /// The state that the actions so far have led to.
    public private(set) var state: State
    /// What the actions since the last `then` want done, in order.
    public private(set) var effects: [EffectShape] = []
    private var actions: [String] = []
    private var minded = true

    init(reducer: Reducer<State>, state: State) {
        self.reducer = reducer
        old = state
        self.state = state
    }
}

extension ReducerScenario {
    /// The actions that follow are taken in at `time`.
    public func at(_ time: Timestamp) -> ReducerScenario { with { $0.context.time = time } }

    /// The actions that follow come from this session and user.
    public func from(session: String? = nil, user: String? = nil) -> ReducerScenario {
        with { scenario in
            scenario.context.session = session
            scenario.context.user = user
        }
    }

    /// From here on effects may be what they like, unless `then` names some.
    public func ignoringEffects() -> ReducerScenario { with { $0.minded = false } }

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
}

extension ReducerScenario {
    /// Expects a state, and effects: none unless they are named.
    ///
    /// - Returns: the scenario, to go on from the state that was in fact reached.
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

    /// Expects what the actions changed since the state given (or since the last `then`), and effects: none unless they
    /// are named.
    ///
    /// - Parameter change: makes the old state the expected one; left out if the state stays as it was.
    /// - Returns: the scenario, to go on from the state that was in fact reached.
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
        let course = actions.isEmpty ? "no action" : actions.joined(separator: ", ")
        if state != expected {
            site.report(
                "The state after \(course) is not the expected one:\n\n"
                    + difference(expected: expected, actual: state)
            )
        }
        if effects != expectedEffects, minded || !expectedEffects.isEmpty {
            site.report(
                "The effects of \(course) are not the expected ones:\n\n"
                    + difference(expected: expectedEffects.map(\.description), actual: effects.map(\.description))
            )
        }
        return with { scenario in
            scenario.old = state
            scenario.effects = []
            scenario.actions = []
        }
    }
}
