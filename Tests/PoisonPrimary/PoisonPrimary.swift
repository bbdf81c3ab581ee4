import Foundation
import SQLiteJournal
import Statecast

/// A primary with an action whose reduction ends the process: `poison-primary JOURNAL PUBLISH ACTIONS`.
@main
enum PoisonPrimary {
    struct Counted: Action {}
    struct Poison: Action {}

    struct Count: Codable, Equatable, Sendable {
        var count = 0
    }

    static func main() async throws {
        let arguments = CommandLine.arguments
        let primary = try Primary(
            store: "poison",
            state: Count(),
            actions: [Counted.self, Poison.self],
            journal: SQLiteJournal(at: arguments[1]),
            configuration: PrimaryConfiguration(publish: arguments[2], actions: arguments[3])
        ) { state, action in
            if action is Poison { kill(getpid(), SIGKILL) }
            state.count += 1
        }
        try await withThrowingTaskGroup { group in
            group.addTask { try await primary.run() }
            let address = try await primary.address
            let position = await primary.position.map { "epoch=\($0.epoch) revision=\($0.revision)" } ?? ""
            print("ready store=poison \(position) publish=\(address.publish) actions=\(address.actions)")
            fflush(nil)
            try await group.waitForAll()
        }
    }
}
