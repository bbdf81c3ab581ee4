import Foundation
import Statecast
import StatecastSQLite

struct Counter: Codable, Equatable, Sendable { var counter = 0 }
struct CounterIncreaseRequested: Action {}

let settings = ProcessInfo.processInfo.environment

await runUntilSignal {
    let primary = try Primary(
        store: "counter",
        state: Counter(),
        actions: [CounterIncreaseRequested.self],
        journal: SQLiteJournal(at: settings["COUNTER_JOURNAL"] ?? "/var/lib/counter"),
        configuration: PrimaryConfiguration(
            publish: settings["COUNTER_PUBLISH"] ?? "tcp://127.0.0.1:7100",
            actions: settings["COUNTER_ACTIONS"] ?? "tcp://127.0.0.1:7101"
        )
    ) { state, action in
        if action is CounterIncreaseRequested { state.counter += 1 }
    }
    try await primary.run()
}
