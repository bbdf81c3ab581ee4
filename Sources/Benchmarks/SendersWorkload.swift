import ArgumentParser
import Foundation
import Statecast

/// The same number of actions from one sender or from many.
struct SendersWorkload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "senders",
        abstract: "Senders at full speed, in tasks or in processes, until the last receipt."
    )

    @OptionGroup var options: NodeOptions
    @Option(help: "Actions of the round, of all senders together; enough to make the filling of queues negligible.")
    var actions = 2_000_000
    @Option(help: "Bytes of an action.") var bytes = 100
    @Option(help: "The senders.") var senders = 16
    @Flag(help: "Each sender in a process of its own.") var processes = false
    @Flag(help: "The primary rejects every second action.") var rejecting = false

    func run() async throws {
        let rejection = Middleware<Marks>.policy { action, _ in
            if (action as? Marked)?.mark.utf8.first == Marked.refused { throw Rejection(.refused, "it is refused") }
        }
        let accepted = Marked(bytes: bytes)
        let cycle = rejecting ? [accepted, Marked(bytes: bytes, isRefused: true)] : [accepted]
        let nodes = try await Nodes(
            Marks(),
            Marked.self,
            Marks.reducer,
            replicas: 0,
            senders: processes ? 0 : senders,
            middleware: rejecting ? [rejection] : [],
            options: options
        )
        let share = actions / senders
        var figures = Figures()
        let times: ThreadTimes
        let start: UInt64
        if processes {
            let children = try (0..<senders).map { _ in
                try ChildProcess([
                    "send", "--from", nodes.publish, "--actions", "\(share)", "--bytes", "\(bytes)",
                    "--window", "\(options.window)",
                ])
            }
            for child in children { _ = try child.line() }
            (times, start) = (ThreadTimes.now, monotonicNow())
            for child in children { try child.tell("go") }
            for child in children { _ = try child.line() }
            figures.seconds = Double(monotonicNow() - start) / 1e9
            for child in children { child.end() }
        } else {
            try await nodes.warmUp(Marked(bytes: bytes))
            (times, start) = (ThreadTimes.now, monotonicNow())
            try await withThrowingTaskGroup { group in
                for sender in nodes.senders {
                    group.addTask { try await Self.send(share, cycle, sender) }
                }
                try await group.waitForAll()
            }
            figures.seconds = Double(monotonicNow() - start) / 1e9
        }
        figures.rate = Double(share * senders) / (figures.seconds ?? 1)
        figures.cpu = (ThreadTimes.now - times).perAction(share * senders)
        try await nodes.close()
        let applied = senders * (1000 + (rejecting ? (share + 1) / 2 : share))
        guard nodes.primary.state.count == applied else {
            throw Invalid("\(nodes.primary.state.count) of \(applied) actions were applied")
        }
        try figures.print()
    }

    /// Submits actions, and waits for the outcome of the last: receipts arrive in the order of the actions.
    static func send(_ count: Int, _ cycle: [Marked], _ sender: ActionSender) async throws {
        var last: PendingReceipt?
        for index in 0..<count { last = try await sender.submit(cycle[index % cycle.count]) }
        _ = try await last?.outcome()
    }
}

/// A sender in a process of its own.
struct SendingProcess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Sends actions when a line arrives on standard input.",
        shouldDisplay: false
    )

    @Option var from: String
    @Option var actions: Int
    @Option var bytes: Int
    @Option var window: Int

    func run() async throws {
        var configuration = SenderConfiguration()
        configuration.limits.maxWindowActions = window
        configuration.maxPending = 2 * window
        let sender = try ActionSender(store: "bench", from: from, configuration: configuration)
        let running = Task { try await sender.run() }
        try await SendersWorkload.send(1000, [Marked(bytes: bytes)], sender)
        try say("ready")
        guard readLine() != nil else { return }
        try await SendersWorkload.send(actions, [Marked(bytes: bytes)], sender)
        try say("done")
        await sender.close()
        _ = await running.result
    }
}
