import ArgumentParser
import Foundation
import Statecast
import StatecastJournal

/// One action at a time: the next is sent when a replica shows it.
struct SingleWorkload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "single",
        abstract: "One action at a time, from its submission until a replica shows it."
    )

    @OptionGroup var options: NodeOptions
    @Option(help: "Actions of the round.") var actions = 5000
    @Option(help: "Bytes of an action.") var bytes = 100
    @Flag(help: "Encrypts and authenticates all connections with CURVE.") var curve = false

    func run() async throws {
        let nodes = try await Nodes(Marks(), Marked.self, Marks.reducer, options: options, curve: curve)
        let action = Marked(bytes: bytes)
        try await nodes.warmUp(action)
        var samples: [UInt64] = []
        let (sender, replica) = (nodes.senders[0], nodes.replicas[0])
        let first = try await sender.send(action).position
        try await replica.reached(first)
        for index in 1...actions {
            let start = monotonicNow()
            // Its receipt is on its way beside the update, and this task does not wait for it.
            _ = try await sender.submit(action)
            let revision = first.revision.advanced(by: index)
            try await replica.reached(Position(lineage: first.lineage, epoch: first.epoch, revision: revision))
            samples.append(monotonicNow() - start)
        }
        var figures = Figures()
        figures.add(latencies: samples)
        try await nodes.close()
        try figures.print()
    }
}
