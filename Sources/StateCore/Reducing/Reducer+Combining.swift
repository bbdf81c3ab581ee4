extension Reducer {
    /// One reducer out of several: each action goes through all of them, in the order given, and each sees what those
    /// before it made of the state. Their effects start in the same order. None at all leaves every state alone.
    public static func combine(_ reducers: [Reducer]) -> Reducer {
        Reducer(readsContext: reducers.contains { $0.readsContext }) { state, action, context in
            var effects = EffectList()
            for reducer in reducers {
                effects.append(reducer.reduce(into: &state, action, context: context))
            }
            return effects.merged
        }
    }

    /// One reducer out of several; see ``combine(_:)-([Reducer<State>])``.
    public static func combine(_ reducers: Reducer...) -> Reducer { combine(reducers) }

    /// This reducer, at work on one part of a larger state; the part is changed in place.
    ///
    /// ```swift
    /// let reducer = Reducer.combine(settings.pullback(\App.settings), fleet.pullback(\App.fleet))
    /// ```
    public func pullback<Whole>(_ part: any WritableKeyPath<Whole, State> & Sendable) -> Reducer<Whole> {
        Reducer<Whole>(readsContext: readsContext) { whole, action, context in
            reduce(into: &whole[keyPath: part], action, context: context)
        }
    }

    /// This reducer, at work on a state that may be absent; while it is, actions pass by.
    ///
    /// ```swift
    /// let reducer = editor.optional().pullback(\App.editor)
    /// ```
    public func optional() -> Reducer<State?> {
        Reducer<State?>(readsContext: readsContext) { state, action, context in
            // In place: taking the value out and putting it back would leave its collections shared, and copy them.
            guard state != nil else { return .none }
            // swift-format-ignore: NeverForceUnwrap
            return reduce(into: &state!, action, context: context)
        }
    }
}
