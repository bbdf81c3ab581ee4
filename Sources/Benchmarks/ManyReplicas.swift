import ArgumentParser
import Statecast
import StatecastCoding

/// Replicas of the counter in one process, for `scripts/check-peers`.
struct ManyReplicas: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow-many",
        abstract: "Follows the store counter with several replicas until the process is ended.",
        shouldDisplay: false
    )

    @Option var endpoint: String
    @Option var count: Int
    @Option(help: "Under which each is listed.") var name: String?

    func run() async throws {
        var configuration = ReplicaConfiguration()
        if let name { configuration.name = name }
        let replicas = try (0..<count).map { _ in
            try Replica(untyped: "counter", from: endpoint, configuration: configuration)
        }
        try await withThrowingTaskGroup { group in
            for replica in replicas { group.addTask { try await replica.run() } }
            for replica in replicas { for await status in replica.statuses where status == .live { break } }
            try say("live")
            try await group.waitForAll()
        }
    }
}
