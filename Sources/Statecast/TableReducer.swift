extension Reducer {
    /// Applies this reducer to the row that the action names, and ignores actions that name no existing row.
    ///
    /// ```swift
    /// let reducer = host.forEach(\Fleet.hosts) { action in (action as? any HostAction)?.host }
    /// ```
    ///
    /// The row changes in place, in O(log n). For an action that concerns all rows, use `forEach(\.hosts.values)`.
    ///
    /// - Parameter key: returns the key that an action names, or nil.
    public func forEach<Whole, Key: Hashable & Comparable & SendableMetatype>(
        _ rows: any WritableKeyPath<Whole, Table<Key, State>> & Sendable,
        key: @escaping @Sendable (_ action: any Action) -> Key?
    ) -> Reducer<Whole> {
        Reducer<Whole>(readsContext: readsContext) { whole, action, context in
            guard let key = key(action), let index = whole[keyPath: rows].index(forKey: key) else { return .none }
            return reduce(into: &whole[keyPath: rows].values[index], action, context: context)
        }
    }
}
