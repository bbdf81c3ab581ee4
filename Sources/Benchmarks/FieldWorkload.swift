import ArgumentParser
import Foundation
import Statecast
import StatecastZeroMQ

/// One field of one row in a large collection.
struct FieldWorkload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "field",
        abstract: "Changes one field of one row at a time: CPU time by role, and bytes on the wire."
    )

    enum Shape: String, ExpressibleByArgument, CaseIterable { case table, dictionary, array }

    @OptionGroup var options: NodeOptions
    @Option(help: "The rows.") var rows = 100_000
    @Option(help: "The collection: table, dictionary or array.") var shape = Shape.table
    @Option(help: "Actions of the round, each sent when the previous one is shown.") var actions = 5000

    func run() async throws {
        switch shape {
        case .table: try await measure(Table<Int, Row>.self)
        case .dictionary: try await measure([Int: Row].self)
        case .array: try await measure([Row].self)
        }
    }

    private func measure<C: RowCollection>(_: C.Type) async throws {
        var options = options
        // Polling is CPU time, too.
        options.maxBusyPolling = options.maxBusyPolling ?? 0
        let nodes = try await Nodes(Rows(rows: C.rows(rows)), RowChanged.self, Rows<C>.reducer, options: options)
        try await nodes.warmUp(RowChanged(row: 0), times: 10)
        let context = Context()
        let counter = HandedSocket(try Socket(.sub, in: context))
        try counter.socket.connect(Endpoint(nodes.publish))
        try counter.socket.subscribe(Array("sc2/bench/feed\0".utf8))
        _ = try counter.socket.receiveWaiting()
        let times = ThreadTimes.now
        var samples: [UInt64] = []
        var sizes: [Int] = []
        for index in 0..<actions {
            let start = monotonicNow()
            let receipt = try await nodes.senders[0].send(RowChanged(row: index &* 7919 % rows))
            try await nodes.replicas[0].reached(receipt)
            samples.append(monotonicNow() - start)
            while case .message(let message) = try counter.socket.receive() { sizes.append(message.count) }
        }
        var figures = Figures()
        figures.cpu = (ThreadTimes.now - times).perAction(actions)
        figures.add(latencies: samples)
        // The largest but for a hundredth: heartbeats are among them.
        sizes.sort()
        figures.more = [
            "bytes_p50": Double(sizes[sizes.count / 2]), "bytes_p99": Double(sizes[sizes.count * 99 / 100]),
        ]
        context.shutdown()
        try await nodes.close()
        guard nodes.replicas[0].snapshot?.state == nodes.primary.state else { throw Invalid("the replica differs") }
        try figures.print()
    }
}
