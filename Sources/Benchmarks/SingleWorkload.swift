import ArgumentParser
import Foundation
import Journal
import Statecast

/// One action at a time: the next is sent when a replica shows it.
struct SingleWorkload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "single",
        abstract: "One action at a time, from the call until a replica shows it."
    )

    @OptionGroup var options: NodeOptions
    @Option(help: "Actions of the round.") var actions = 5000
    @Option(help: "Bytes of an action.") var bytes = 100

    func run() async throws {
        let nodes = try await Nodes(Marks(), Marked.self, Marks.reducer, options: options)
        let action = Marked(bytes: bytes)
        try await nodes.warmUp(action)
        var samples: [UInt64] = []
        for _ in 0..<actions {
            let start = monotonicNow()
            try await nodes.replicas[0].reached(try await nodes.senders[0].send(action))
            samples.append(monotonicNow() - start)
        }
        var figures = Figures()
        figures.add(latencies: samples)
        try await nodes.close()
        try figures.print()
    }
}
