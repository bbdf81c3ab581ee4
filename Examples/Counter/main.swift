import Statecast

struct Counter: Codable, Equatable, Sendable { var counter = 0; var step = 1 }
struct CounterIncreaseRequested: Action {}
struct StepChangeRequested: Action { let step: Int }

// In the process that owns the state:
let ports = PrimaryConfiguration(publish: "tcp://127.0.0.1:*", actions: "tcp://127.0.0.1:*")
let actions: [any Action.Type] = [CounterIncreaseRequested.self, StepChangeRequested.self]
let primary = try Primary(store: "counter", state: Counter(), actions: actions, configuration: ports) { state, action in
    switch action {
    case is CounterIncreaseRequested: state.counter += state.step
    case let action as StepChangeRequested: state.step = action.step
    default: break
    }
}
try await withPrimary(primary) { primary in
    let endpoint = try await primary.address.publish

    // In any other process:
    try await withReplica(Replica<Counter>(store: "counter", from: endpoint)) { replica in
        try await withSender(ActionSender(store: "counter", from: endpoint)) { sender in
            try await sender.send(StepChangeRequested(step: 7))
            let receipt = try await sender.send(CounterIncreaseRequested())  // returns when applied; throws if rejected
            try await replica.reached(receipt)  // read your own writes
            if let shown = replica.snapshot { print("revision \(shown.revision): \(shown.state)") }
        }
    }
}
