import Foundation
import Synchronization
import Testing
import Threading

@testable import ZeroMQ

@Suite(.timeLimit(.minutes(10))) struct `A flood of subscriptions` {
    /// A publisher whose loop can be occupied.
    private actor Occupied {
        private let loop: PollLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        private var socket: Socket?
        private(set) var stopped = 0
        private(set) var floodGuard: FloodGuard?

        init(on loop: PollLoop) { self.loop = loop }

        func bind(_ report: @escaping @Sendable (Int, Int, Bool) -> Void) throws -> Endpoint {
            let floodGuard = FloodGuard(on: loop) { [weak self] count in
                self?.assumeIsolated { $0.stopped += count }
            }
            self.floodGuard = floodGuard
            let socket = try Socket(.xpub, options: .with { $0.receiveHighWaterMark = 1 << 30 })
            try socket.reportConnections(guardedBy: floodGuard, to: report)
            let endpoint = try socket.bind(Endpoint("tcp://127.0.0.1:*"))
            self.socket = consume socket
            return endpoint
        }

        func publish(_ message: [UInt8]) throws { _ = try socket?.send(message) }

        /// Occupies the loop until the condition is met.
        func occupy(until isMet: (FloodGuard) -> Bool) {
            while let floodGuard, !isMet(floodGuard) { sched_yield() }
        }
    }

    @Test func `that goes on while the loop is occupied stops its connection, and no other one`() async throws {
        let loop = try PollLoop()
        defer { loop.shutdown() }
        let counts = Monitor((accepted: 0, ended: 0))
        let publisher = Occupied(on: loop)
        let endpoint = try await publisher.bind { accepted, ended, _ in
            counts.change { $0 = ($0.accepted + accepted, $0.ended + ended) }
        }
        let honest = try connected(.sub, to: endpoint)
        try honest.subscribe(Array("honest".utf8))
        let silent = try RawStream(to: endpoint)
        _ = try await counts.wait { $0.accepted == 2 ? $0 : nil }
        let isOver = Flag()
        Thread.detachNewThread {
            do {
                let flood = try connected(.sub, to: endpoint)
                let topics = (UInt8(0)...255).map { [UInt8](repeating: $0, count: 200) }
                while !isOver.isSet {
                    // libzmq connects in calls that send or receive.
                    _ = try flood.receive()
                    for topic in topics { try flood.subscribe(topic) }
                    for topic in topics { try flood.unsubscribe(topic) }
                }
            } catch { Issue.record(error) }
        }
        defer { isOver.set() }
        await publisher.occupy { $0.isFlooded }
        isOver.set()
        while await publisher.stopped == 0 { await Task.yield() }
        #expect(await publisher.stopped >= 1)
        #expect(await publisher.floodGuard?.isFlooded == false)
        try await publisher.publish(Array("honest".utf8))
        while try honest.receive() == nil { await Task.yield() }
        withExtendedLifetime(honest) {}
        withExtendedLifetime(silent) {}
    }

    /// Runs the body while the publisher's loop is occupied.
    private func occupying(_ publisher: Occupied, _ body: (FloodGuard) throws -> Void) async throws -> FloodGuard {
        _ = try await publisher.bind { _, _, _ in }
        let floodGuard = try #require(await publisher.floodGuard)
        let (isOccupied, isOver) = (Flag(), Flag())
        async let occupation: Void = publisher.occupy { _ in
            isOccupied.set()
            return isOver.isSet
        }
        // Before the end of the scope awaits the occupation.
        defer { isOver.set() }
        while !isOccupied.isSet { await Task.yield() }
        try body(floodGuard)
        isOver.set()
        await occupation
        return floodGuard
    }

    /// The socket's owner may close it for another reason before it learns of the flood.
    @Test func `is forgotten with its socket`() async throws {
        let loop = try PollLoop()
        defer { loop.shutdown() }
        let publisher = Occupied(on: loop)
        let floodGuard = try await occupying(publisher) { floodGuard in
            let server = try RawServer()
            let flood = try server.link()
            var connections = [flood.accepted: try #require(MonitoredConnection(flood.accepted))]
            try flood.send(Int(FloodGuard.bytesMax) + 1)
            _ = floodGuard.check(&connections)
            _ = floodGuard.check(&connections)
            try #require(floodGuard.isFlooded)
            floodGuard.forgetStopped()
            #expect(!floodGuard.isFlooded)
        }
        // Until the loop has answered.
        var none: [CInt: MonitoredConnection] = [:]
        while floodGuard.check(&none) { await Task.yield() }
        #expect(await publisher.stopped == 0)
    }

    /// Alone, none of the connections would make the guard ask the loop.
    /// With many connections, each may receive less.
    @Test(arguments: [8, 99])
    func `that is spread over connections stops those that go on while the loop is occupied`(count: Int) async throws {
        let loop = try PollLoop()
        defer { loop.shutdown() }
        let publisher = Occupied(on: loop)
        let floodGuard = try await occupying(publisher) { floodGuard in
            let server = try RawServer()
            var links: [RawServer.Link] = []
            for _ in 0...count { links.append(try server.link()) }
            let (honest, floods) = (links[count], links.prefix(count))
            var connections = try Dictionary(
                uniqueKeysWithValues: links.map { ($0.accepted, try #require(MonitoredConnection($0.accepted))) }
            )
            let bytesMax = Int(FloodGuard.bytesMax(ofConnections: links.count))
            #expect(bytesMax == [8: 65_536, 99: 20_971][count])
            let part = bytesMax / 4
            for link in links { try link.send(part) }
            var isAsked = floodGuard.check(&connections)
            #expect(isAsked)
            #expect(!floodGuard.isFlooded)
            // With what led to the question, a byte too much.
            for flood in floods { try flood.send(bytesMax - part + 1) }
            try honest.send(part)
            isAsked = floodGuard.check(&connections)
            #expect(isAsked)
            try #require(floodGuard.isFlooded)
            for flood in floods { try flood.client.write([1]) }
            try honest.send(part)
            #expect(!floods.contains { $0.hasArrived })
            isAsked = floodGuard.check(&connections)
            #expect(isAsked)
        }
        while await publisher.stopped == 0 { await Task.yield() }
        #expect(await publisher.stopped == count)
        #expect(!floodGuard.isFlooded)
    }

    @Test func `is looked for less often among many connections`() {
        let intervals = [0, 200, 500, 5000].map(FloodGuard.checkInterval)
        #expect(intervals == [20, 20, 50, 100].map(Duration.milliseconds))
    }
}

private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}
