extension Reducer {
    /// This reducer, at work on every element of a collection: each element gets each action, in order.
    ///
    /// For actions that concern all. Where an action names one element, `forEach(_:key:)` touches only that one.
    public func forEach<Whole, Elements: MutableCollection & SendableMetatype>(
        _ elements: any WritableKeyPath<Whole, Elements> & Sendable
    ) -> Reducer<Whole> where Elements.Element == State, Elements.Index: SendableMetatype {
        Reducer<Whole>(readsContext: readsContext) { whole, action, context in
            var effects = EffectList()
            var index = whole[keyPath: elements].startIndex
            while index != whole[keyPath: elements].endIndex {
                effects.append(reduce(into: &whole[keyPath: elements][index], action, context: context))
                index = whole[keyPath: elements].index(after: index)
            }
            return effects.merged
        }
    }

    /// This reducer, at work on the element that the action is about; if there is none such, the action passes by.
    ///
    /// ```swift
    /// let reducer = row.forEach(\Board.rows) { action in (action as? any RowAction)?.row }
    /// ```
    ///
    /// - Parameter key: which element an action is about; nil if about none.
    public func forEach<Whole, Key: Hashable & SendableMetatype>(
        _ elements: any WritableKeyPath<Whole, [Key: State]> & Sendable,
        key: @escaping @Sendable (_ action: any Action) -> Key?
    ) -> Reducer<Whole> {
        Reducer<Whole>(readsContext: readsContext) { whole, action, context in
            guard let key = key(action), let index = whole[keyPath: elements].index(forKey: key) else { return .none }
            return reduce(into: &whole[keyPath: elements].values[index], action, context: context)
        }
    }
}
