import StatecastCore

struct Counter: Codable, Equatable, Sendable {
    var counter = 0
    var step = 1
}

struct CounterIncreaseRequested: Action {}
struct CounterDecreaseRequested: Action {}
struct StepChangeRequested: Action { let step: Int }

extension Counter {
    static let reducer = Reducer<Counter> { counter, action in
        switch action {
        case is CounterIncreaseRequested: counter.counter += counter.step
        case is CounterDecreaseRequested: counter.counter -= counter.step
        case let action as StepChangeRequested: counter.step = max(1, action.step)
        default: break
        }
    }
}
