import CounterApp
import Foundation
import Logging
import StatecastCoding
import StatecastProtocol
import StatecastZeroMQ
import Testing

@testable import Statecast

@Suite(.timeLimit(.minutes(10))) struct `A limit of memory` {
    // MARK: Decisions

    private static let mebibyte = 1 << 20

    /// A guard of 100 MiB, and a process whose allocator has handed out nearly all of its memory.
    private struct Bench {
        private var memory = MemoryGuard(maxBytes: 100 << 20)
        private var now = Instant.origin

        /// Checks after some seconds.
        mutating func check(_ mebibytes: Int, allocated: Int? = nil, after seconds: Int = 1) -> MemoryGuard.Verdict {
            now = now.advanced(by: .seconds(seconds))
            return memory.check(resident: mebibytes << 20, allocated: { (allocated ?? mebibytes) << 20 }, at: now)
        }
    }

    @Test func `A limit of memory is exceeded by one byte, and asks the allocator only then`() {
        var memory = MemoryGuard(maxBytes: 1000)
        let below = memory.check(
            resident: 1000,
            allocated: {
                Issue.record("asked")
                return 0
            },
            at: .origin
        )
        #expect(below == .fine)
        #expect(memory.check(resident: 1001, allocated: { 1000 }, at: .origin) == .fine, "one byte is free")
        #expect(memory.check(resident: 1001, allocated: { .max }, at: .origin) == .close(1001), "it does not say")
    }

    @Test
    func `A limit of memory closes the connections again after 30 seconds, and then after twice as long each time`() {
        var bench = Bench()
        #expect(bench.check(200) == .close(200 * Self.mebibyte))
        for pause in [30, 60, 120, 240, 480, 600, 600] {
            #expect(bench.check(50) == .fine)
            #expect(bench.check(200, after: pause - 2) == .fine)
            #expect(bench.check(200) == .close(200 * Self.mebibyte))
        }
        // After a longer quiet time, it begins anew.
        _ = bench.check(50)
        #expect(bench.check(200, after: 600) == .close(200 * Self.mebibyte))
        _ = bench.check(50)
        #expect(bench.check(200, after: 29) == .close(200 * Self.mebibyte))
    }

    @Test
    func `A limit of memory closes no connections that are not the cause, until the memory has fallen by a quarter`() {
        var bench = Bench()
        #expect(bench.check(200) == .close(200 * Self.mebibyte))
        #expect(bench.check(151) == .fine)
        #expect(bench.check(190, after: 29) == .notOfPeers(190 * Self.mebibyte))
        for _ in 0..<100 { #expect(bench.check(400, after: 60) == .fine) }
        #expect(bench.check(150) == .close(150 * Self.mebibyte))
    }

    // MARK: Nodes, each in a process of its own

    /// The memory of ThreadSanitizer belongs to the process, too.
    private static let isMeasured = ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil

    private static func primary(_ log: EventLog, maxMemory: Int) throws -> Primary<Counter> {
        var configuration = PrimaryConfiguration.quick
        configuration.maxMemory = maxMemory
        return try Primary.counter(configuration, log: log)
    }

    private static let isExceeded = "bytes of memory, more than maxMemory"

    private static func closings(_ log: EventLog) -> Int {
        log.events.count { $0.hasPrefix("warning: the process uses") && $0.contains(isExceeded) }
    }

    /// Attacks until the connections are closed, also after a failure: one that is slow to shake hands is replaced.
    private static func repeatOnThread(until log: EventLog, _ attack: @escaping @Sendable () throws -> Void) {
        Thread.detachNewThread { while closings(log) == 0 { try? attack() } }
    }

    /// The connections are closed once for each node, and then not again. The last line comes after 30 seconds.
    @Test(.enabled(if: isMeasured))
    func `A limit of memory of a program that has much memory of its own disturbs its nodes once`() async {
        await #expect(processExitsWith: .success) {
            let own = UnsafeMutableRawPointer.allocate(byteCount: 1 << 30, alignment: 16)
            memset(own, 1, 1 << 30)
            let (log, replicaLog) = (EventLog(), EventLog())
            let primary = try Self.primary(log, maxMemory: 256 << 20)
            let address = try await primary.start()
            var configuration = ReplicaConfiguration.quick
            configuration.maxMemory = 256 << 20
            let replica = try Replica<Counter>(
                store: "counter",
                from: address.publish,
                configuration: configuration,
                logger: LogBook.logger(replicaLog)
            ).started()
            var senderConfiguration = SenderConfiguration.quick
            senderConfiguration.maxMemory = 256 << 20
            let sender = try ActionSender(
                store: "counter",
                from: address.publish,
                configuration: senderConfiguration,
                logger: LogBook.logger(replicaLog)
            ).started()
            var last = try await sender.send(CounterIncreaseRequested())
            let text = "its peers are not the cause"
            while !log.events.contains(where: { $0.contains(text) })
                || replicaLog.events.count(where: { $0.contains(text) }) < 2
            {
                last = try await sender.send(CounterIncreaseRequested())
                await Task.yield()
            }
            #expect(last.number.rawValue == last.revision.rawValue)
            try await replica.reached(last)
            #expect(Self.closings(log) == 1)
            #expect(Self.closings(replicaLog) == 2)
            await sender.close()
            await replica.close()
            await primary.stop()
            own.deallocate()
        }
    }

    /// Starts a primary, attacks it, and returns the receipt of an action that is sent once its connections are closed.
    ///
    /// - Parameter attack: what one of the attacking connections does, made for the primary's address.
    private static func attacked<State>(
        _ primary: Primary<State>,
        store: String,
        _ log: EventLog,
        sending action: any Action,
        connections: Int = 1,
        _ attack: (PrimaryAddress) async throws -> @Sendable () throws -> Void
    ) async throws -> Receipt {
        signal(SIGPIPE, SIG_IGN)
        let address = try await primary.start()
        let sender = try ActionSender(store: store, from: address.publish, configuration: .quick).started()
        let connection = try await attack(address)
        for _ in 0..<connections { repeatOnThread(until: log, connection) }
        while closings(log) == 0 { try await sender.send(action) }
        let receipt = try await sender.send(action)
        await sender.close()
        await primary.stop()
        return receipt
    }

    enum Message: CaseIterable, Codable {
        /// libzmq collects the parts of a message, each with 64 bytes, before it shows the first one.
        case withoutEnd
        /// libzmq allocates a message when its length has arrived.
        case thatStops
    }

    @Test(.enabled(if: isMeasured), arguments: Message.allCases)
    func `A limit of memory ends messages without an end, and the others go on`(message: Message) async {
        await #expect(processExitsWith: .success) { [message] in
            let log = EventLog()
            let primary = try Self.primary(log, maxMemory: 256 << 20)
            let last = try await Self.attacked(primary, store: "counter", log, sending: CounterIncreaseRequested()) {
                let endpoint = try Endpoint($0.actions)
                return {
                    let peer = try RawConnection(to: endpoint, as: "PUSH")
                    while message == .withoutEnd { try peer.send(parts: 1 << 16) }
                    try peer.send(bytes: 900_000, ofMessageWith: 1 << 20)
                    peer.keepOpen()
                }
            }
            #expect(last.number.rawValue == last.revision.rawValue)
        }
    }

    /// libzmq keeps what a peer does not read: up to `publishHighWaterMark` chunks for each.
    @Test(.enabled(if: isMeasured))
    func `A limit of memory ends subscribers that request chunks and do not read, and the others go on`() async {
        await #expect(processExitsWith: .success) {
            let log = EventLog()
            var configuration = PrimaryConfiguration.anyPorts
            configuration.maxMemory = 256 << 20
            let primary = try Primary(
                store: "blob",
                state: Blob(text: String(repeating: "x", count: 1_500_000)),
                actions: Blob.actions,
                configuration: configuration,
                logger: LogBook.logger(log),
                reducer: Blob.reducer
            )
            let action = PartAdded(name: "a", letters: 1)
            let last = try await Self.attacked(primary, store: "blob", log, sending: action, connections: 60) {
                address in
                let joiner = try await RawPeer(address)
                let join = "sc2/blob/join/0000000000000001/none"
                try await joiner.subscribe(join)
                let welcome = try await joiner.welcome(on: join)
                let offer = try #require(welcome.offer)
                let topics = try (0...(offer.bytes / offer.chunkBytes)).map { index in
                    let topic = Topic.snapshot(welcome.lineage, offer.revision, index: UInt32(index))
                    return Address(try StoreName("blob"), topic).bytes
                }
                let endpoint = try Endpoint(address.publish)
                return {
                    let peer = try RawConnection(to: endpoint, as: "SUB")
                    while true {
                        for kind in [UInt8(1), 0] {
                            for topic in topics { try peer.send(message: [kind] + topic) }
                            // The chunks are published. Without a pause, the primary would be occupied in libzmq.
                            Thread.sleep(forTimeInterval: 0.05)
                        }
                    }
                }
            }
            #expect(last.number.rawValue >= last.revision.rawValue)
        }
    }

    /// The publisher is hostile: the replica gets parts of a message that never ends.
    @Test(.enabled(if: isMeasured))
    func `A limit of memory of a replica ends such a message, too`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_IGN)
            let log = EventLog()
            let server = try RawServer()
            Self.repeatOnThread(until: log) {
                let peer = try RawConnection(server.connection(), as: "XPUB")
                try peer.send(firstPart: Array("sc2/counter/feed\0".utf8))
                while true { try peer.send(parts: 1 << 16) }
            }
            var configuration = ReplicaConfiguration.quick
            configuration.maxMemory = 128 << 20
            let replica = try Replica<Counter>(
                store: "counter",
                from: server.endpoint.description,
                configuration: configuration,
                logger: LogBook.logger(log)
            ).started()
            try await log.waits(for: "warning: the process uses")
            await replica.close()
        }
    }
}
