import StatecastZeroMQ
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Pipelines of actors` {
    private let roomy = SocketOptions.with {
        $0.sendHighWaterMark = 100_000
        $0.receiveHighWaterMark = 100_000
    }

    @Test(arguments: ["tcp://127.0.0.1:*", "ipc://*", "inproc://pipelines"])
    func `Pipelines of actors carry every message, in order, from push to subscription`(text: String) async throws {
        let (primary, replica) = (try PollLoop(name: "primary"), try PollLoop(name: "replica"))
        defer {
            primary.shutdown()
            replica.shutdown()
        }
        let count = 5000
        let pull = try Bound(.pull, at: text + (text.hasPrefix("inproc") ? "-up" : ""), options: roomy)
        let xpub = try Bound(.xpub, at: text + (text.hasPrefix("inproc") ? "-down" : ""), options: roomy)
        let (up, down) = (pull.endpoint, xpub.endpoint)

        let publisher = Publisher(on: primary, to: xpub.intoSocket())
        let keeper = Node(on: primary, from: pull.intoSocket()) { _, message in try publisher.publish(message) }
        let (numbers, received) = AsyncStream<Int>.makeStream()
        let sub = try connected(.sub, to: down, options: roomy)
        try sub.subscribe([])
        let follower = Node(on: replica, from: sub) { _, message in
            received.yield(message.reduce(0) { $0 << 8 | Int($1) })
        }
        await keeper.start()
        await follower.start()
        await publisher.subscription()

        let push = try connected(.push, to: up, options: roomy)
        for number in 0..<count { try push.push([UInt8(number >> 8), UInt8(number & 0xFF)]) }
        var next = 0
        for await number in numbers {
            try #require(number == next)
            next += 1
            if next == count { break }
        }
        #expect(next == count)
    }
}
