internal import Locking

/// Reducers that come and go while the program runs, such as those of plug-ins.
///
/// Folded in the order in which their keys were first added; replacing one keeps its place. A change takes effect with
/// the next action that is reduced.
///
/// ```swift
/// let plugins = ReducerSlots<App>()
/// let core = Core(App(), reducer: .combine(App.reducer, plugins.reducer))
/// plugins["spelling"] = spelling.pullback(\App.spelling)
/// plugins["spelling"] = nil
/// ```
///
/// What is in the slots is not part of the state: whoever replays actions must fill them the same way.
public final class ReducerSlots<State>: Sendable {
    private struct Slot {
        let key: AnyID
        var reducer: Reducer<State>
    }

    private let slots = Locked<[Slot]>([])

    /// Slots with nothing in them.
    public init() {}

    /// All that is in the slots, as one reducer.
    public var reducer: Reducer<State> {
        Reducer(readsContext: true) { [self] state, action, context in
            // Not under the lock: a reducer may take its time, and meanwhile slots may change.
            Reducer.combine(slots.withLock { $0.map(\.reducer) }).reduce(into: &state, action, context: context)
        }
    }

    /// The reducer under a key. Setting one adds it at the end or replaces it in its place; setting nil removes it.
    public subscript<Key: Hashable & Sendable>(_ key: Key) -> Reducer<State>? {
        get { slots.withLock { slots in slots.first { $0.key == AnyID(key) }?.reducer } }
        set {
            // What is taken out ends outside the lock: a reducer may hold what comes back here when it goes.
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
