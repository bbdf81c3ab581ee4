import StateCore

/// A state as small as they come, so that what is measured is the way to it.
struct Counter: Equatable, Sendable {
    var count = 0

    static let reduce: @Sendable (inout Counter, any Action) -> Void = { counter, action in
        switch action {
        case is CounterIncreaseRequested: counter.count += 1
        default: break
        }
    }
}

struct CounterIncreaseRequested: Action {}
