import StatecastThreading

extension Reducer {
    /// Combines reducers: each action passes through all of them in the order given, and their effects start in the
    /// same order.
    public static func combine(_ reducers: [Reducer]) -> Reducer {
        Reducer(readsContext: reducers.contains { $0.readsContext }) { state, action, context in
            var effects = EffectList()
            for reducer in reducers {
                effects.append(reducer.reduce(into: &state, action, context: context))
            }
            return effects.merged
        }
    }

    /// Combines reducers; see ``combine(_:)-([Reducer<State>])``.
    public static func combine(_ reducers: Reducer...) -> Reducer { combine(reducers) }

    /// Applies this reducer to a part of a larger state, which it changes in place.
    ///
    /// ```swift
    /// let reducer = Reducer.combine(settings.pullback(\App.settings), fleet.pullback(\App.fleet))
    /// ```
    public func pullback<Whole>(_ part: any WritableKeyPath<Whole, State> & Sendable) -> Reducer<Whole> {
        Reducer<Whole>(readsContext: readsContext) { whole, action, context in
            reduce(into: &whole[keyPath: part], action, context: context)
        }
    }

    /// Applies this reducer to an optional state, and ignores actions while it is nil.
    ///
    /// ```swift
    /// let reducer = editor.optional().pullback(\App.editor)
    /// ```
    public func optional() -> Reducer<State?> {
        Reducer<State?>(readsContext: readsContext) { state, action, context in
            // In place: moving the value out and back would share its collections, and copy them.
            guard state != nil else { return .none }
            // swift-format-ignore: NeverForceUnwrap
            return reduce(into: &state!, action, context: context)
        }
    }

    /// Applies this reducer to every element of a collection, in order, for actions that concern all of them.
    ///
    /// If an action names one element, use `forEach(_:key:)`, for a dictionary or, in Statecast, a table.
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

    /// Applies this reducer to the element that the action names, and ignores actions that name no existing element.
    ///
    /// ```swift
    /// let reducer = row.forEach(\Board.rows) { action in (action as? any RowAction)?.row }
    /// ```
    ///
    /// - Parameter key: returns the key that an action names, or nil.
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

/// Reducers that are added, replaced and removed at run time, such as those of plug-ins.
///
/// They run in the order in which their keys were first added; a replacement keeps its position. A change applies from
/// the next reduced action on.
///
/// ```swift
/// let plugins = ReducerSlots<App>()
/// let core = Core(App(), reducer: .combine(App.reducer, plugins.reducer))
/// plugins["spelling"] = spelling.pullback(\App.spelling)
/// plugins["spelling"] = nil
/// ```
///
/// The slots are not part of the state: a replay of actions needs the same reducers in the same order.
public final class ReducerSlots<State>: Sendable {
    private struct Slot {
        let key: AnyID
        var reducer: Reducer<State>
    }

    private let slots = Locked<[Slot]>([])

    /// Creates empty slots.
    public init() {}

    /// All reducers in the slots, combined.
    public var reducer: Reducer<State> {
        Reducer(readsContext: true) { [self] state, action, context in
            // Outside the lock: a reducer may change the slots.
            Reducer.combine(slots.withLock { $0.map(\.reducer) }).reduce(into: &state, action, context: context)
        }
    }

    /// The reducer under a key. Setting one appends or replaces it; setting nil removes it.
    public subscript<Key: Hashable & Sendable>(_ key: Key) -> Reducer<State>? {
        get { slots.withLock { slots in slots.first { $0.key == AnyID(key) }?.reducer } }
        set {
            // Released outside the lock: the release may run user code that accesses the slots.
            let former = slots.withLock { slots in
                let former = slots
                let index = slots.firstIndex { $0.key == AnyID(key) }
                switch (index, newValue) {
                case (let index?, let reducer?): slots[index].reducer = reducer
                case (let index?, nil): slots.remove(at: index)
                case (nil, let reducer?): slots.append(Slot(key: AnyID(key), reducer: reducer))
                case (nil, nil): break
                }
                return former
            }
            withExtendedLifetime(former) {}
        }
    }
}
