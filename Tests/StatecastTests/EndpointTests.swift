import CounterApp
import Foundation
import StatecastProtocol
import StatecastZeroMQ
import Testing

@testable import Statecast

/// An unavailable endpoint is reported in one line that names it and says what to do.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct EndpointTests {
    private func failure(publish: String, actions: String = "tcp://127.0.0.1:*") async
        -> StatecastError?
    {
        let configuration = PrimaryConfiguration(publish: publish, actions: actions)
        do throws(StatecastError) {
            let primary = try Primary.counter(configuration)
            try await primary.start()
            await primary.stop()
            return nil
        } catch {
            return error
        }
    }

    @Test func `a tcp endpoint in use is named`() async throws {
        try await withCounter { cluster in
            let failure = try #require(await failure(publish: cluster.address.publish))
            #expect(failure.code == .endpoint)
            #expect(failure.message.contains(cluster.address.publish))
            #expect(!failure.message.contains("\n"))
        }
    }

    @Test func `an ipc endpoint in use is not replaced`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sc-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let endpoint = "ipc://\(folder.path)/publish"
        try await withCounter { configuration in
            configuration.publish = endpoint
            configuration.actions = "ipc://\(folder.path)/actions"
        } _: { cluster in
            let failure = try #require(await failure(publish: endpoint))
            #expect(failure.code == .endpoint)
            #expect(failure.message.contains(endpoint))
            let replica = try cluster.replica()
            try await replica.reached(try await cluster.sender().send(CounterIncreaseRequested()))
            #expect(replica.snapshot?.state.counter == 1)
        }
    }

    @Test(arguments: ["", "tcp://", "7100", "tcp://127.0.0.1", "tcp://127.0.0.1:99999", "http://127.0.0.1:80"])
    func `a malformed endpoint is quoted with the expected form`(_ text: String) async throws {
        let failure = try #require(await failure(publish: text))
        #expect(failure.code == .endpoint)
        #expect(failure.message.contains("\"\(text)\""))
        #expect(throws: StatecastError.self) { try Replica<Counter>(store: "counter", from: text) }
        #expect(throws: StatecastError.self) { try ActionSender(store: "counter", from: text) }
    }

    @Test(arguments: ["tcp://0.0.0.0:*", "tcp://*:*", "tcp://192.0.2.1:7100", "tcp://example.org:7100"])
    func `no endpoint beyond this machine is bound or connected by default`(_ text: String) async throws {
        let failure = try #require(await failure(publish: text))
        #expect(failure.code == .insecure)
        #expect(failure.message.contains("--insecure"))
        let replicaFailure = #expect(throws: StatecastError.self) { try Replica<Counter>(store: "counter", from: text) }
        #expect(replicaFailure?.code == .insecure)
    }

    @Test func `a store with an endpoint of its own is served there only`() async throws {
        var configuration = PrimaryConfiguration.quick
        configuration.storeEndpoints = ["second": "tcp://127.0.0.1:*"]
        let node = try PrimaryNode(configuration: configuration)
        for store in ["counter", "second"] { _ = try Primary.counter(on: node, store: store) }
        let address = try await node.start()
        let second = try #require(address.storeEndpoints["second"])
        for (store, endpoint, wrong) in [("counter", address.publish, second), ("second", second, address.publish)] {
            let replica = try Replica<Counter>(store: store, from: endpoint, configuration: .quick).started()
            let sender = try ActionSender(store: store, from: endpoint, configuration: .quick).started()
            try await replica.reached(sender.send(CounterIncreaseRequested()))
            let lost = try Replica<Counter>(store: store, from: wrong, configuration: .quick).started()
            await lost.waits {
                if case .refused(let reason) = $0 { reason.code == .notPermitted } else { false }
            }
        }
        await node.stop()
    }

    @Test func `an endpoint for a store that the node does not serve is refused`() async throws {
        var configuration = PrimaryConfiguration.quick
        configuration.storeEndpoints = ["secnd": "tcp://127.0.0.1:*"]
        let node = try PrimaryNode(configuration: configuration)
        _ = try Primary.counter(on: node, store: "second")
        let failure = await #expect(throws: StatecastError.self) { try await node.start() }
        #expect(failure?.code == .definition)
        #expect(failure?.message.contains("\"secnd\"") == true)
    }

    @Test func `stores with the same endpoint share a socket`() throws {
        var configuration = PrimaryConfiguration(publish: "tcp://127.0.0.1:1", actions: "tcp://127.0.0.1:2")
        configuration.storeEndpoints = [
            "a": "tcp://127.0.0.1:3", "b": "tcp://127.0.0.1:3", "c": "tcp://127.0.0.1:1", "d": "tcp://127.0.0.1:*",
            "e": "tcp://127.0.0.1:*",
        ]
        let stores = try ["a", "b", "c", "d", "e", "f"].map { name in try StoreName(name) }
        let feeds = try configuration.feeds(of: Set(stores)).map { "\($0.endpoint) \($0.stores.map(\.text).sorted())" }
        #expect(
            feeds == [
                #"tcp://127.0.0.1:1 ["c", "f"]"#, #"tcp://127.0.0.1:3 ["a", "b"]"#, #"tcp://127.0.0.1:* ["d"]"#,
                #"tcp://127.0.0.1:* ["e"]"#,
            ]
        )
    }

    /// Runs in a process of its own, whose working folder it changes.
    @Test(arguments: [false, true])
    func `relative ipc endpoints are advertised as absolute ones, with keys too`(hasKeys: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sc-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        await #expect(processExitsWith: .success) { [hasKeys, folder = folder.path as String] in
            #expect(chdir(folder) == 0)
            let here = FileManager.default.currentDirectoryPath
            let user = NodeKeys.generate()
            let secured = try SecuredCounter(["\(user.publicKey) user follow=* send=*/*"], configure: Self.relative)
            var configuration = PrimaryConfiguration.quick
            Self.relative(&configuration)
            let plain = try PrimaryNode(configuration: configuration)
            if !hasKeys { _ = try Primary.counter(on: plain) }
            let node = hasKeys ? secured.node : plain
            _ = try Primary.counter(on: node, store: "second")
            let address = try await node.start()
            #expect(address.publish == "ipc://\(here)/p")
            #expect(address.actions == "ipc://\(here)/a")
            #expect(address.storeEndpoints == ["second": "ipc://\(here)/s"])
            #expect(address.receipts == (hasKeys ? "ipc://\(here)/r" : nil))
            // A peer may name a relative path itself, from its own working folder.
            for endpoint in [address.receipts ?? address.publish, hasKeys ? "ipc://r" : "ipc://p"] {
                var configuration = SenderConfiguration.quick
                configuration.security = hasKeys ? secured.security(user) : nil
                let sender = try ActionSender(store: "counter", from: endpoint, configuration: configuration).started()
                try await sender.send(CounterIncreaseRequested())
            }
            await node.stop()
            // What the senders of a primary receive, whichever endpoint it advertises.
            for (advertised, expected) in [(nil, "ipc://\(here)/a"), ("ipc://b", "ipc://\(here)/b")] {
                try await withCounter {
                    Self.relative(&$0)
                    $0.storeEndpoints = [:]
                    $0.advertiseActions = advertised
                } _: { cluster in
                    let watermark = try await RawPeer(cluster.address).watermark(of: SessionSecret.random().session)
                    #expect(watermark.endpoint == expected)
                }
            }
        }
    }

    private static func relative(_ configuration: inout PrimaryConfiguration) {
        configuration.publish = "ipc://p"
        configuration.actions = "ipc://a"
        configuration.receipts = "ipc://r"
        configuration.storeEndpoints = ["second": "ipc://s"]
    }

    @Test func `a relative ipc endpoint whose absolute path is too long for a socket is refused with the limit`()
        async throws
    {
        // Short enough, if it were absolute.
        let path = String(repeating: "./", count: (Endpoint.maxIpcPathBytes - 6) / 2) + "socket"
        let failure = try #require(await failure(publish: "ipc://" + path))
        #expect(failure.code == .endpoint)
        #expect(failure.message.contains("\(FileManager.default.currentDirectoryPath)/\(path)"), "\(failure)")
        #expect(failure.message.contains("at most \(Endpoint.maxIpcPathBytes) bytes"), "\(failure)")
    }

    #if os(Linux)
        @Test func `abstract ipc endpoints and ipc://* are advertised as they are bound`() async throws {
            let name = "ipc://@statecast-\(UUID().uuidString)"
            try await withCounter { configuration in
                configuration.publish = "ipc://*"
                configuration.actions = name
            } _: { cluster in
                #expect(cluster.address.publish.hasPrefix("ipc:///"))
                #expect(cluster.address.actions == name)
                try await cluster.sender().send(CounterIncreaseRequested())
            }
        }
    #endif

    @Test func `inproc endpoints are refused`() async throws {
        let failure = try #require(await failure(publish: "inproc://anything"))
        #expect(failure.code == .endpoint)
        #expect(failure.message.contains("within one process"))
        let text = "inproc://zeromq.zap.01"
        #expect(throws: StatecastError.self) { try Replica<Counter>(store: "counter", from: text) }
        #expect(throws: StatecastError.self) { try ActionSender(store: "counter", from: text) }
    }

    @Test func `in a trusted network a wildcard is bound, and senders push to the host that they reached`()
        async throws
    {
        try await withCounter { configuration in
            configuration.publish = "tcp://0.0.0.0:*"
            configuration.actions = "tcp://0.0.0.0:*"
            configuration.plaintext = .trustedNetwork
        } _: { cluster in
            let port = try #require(cluster.address.publish.split(separator: ":").last)
            let sender = try ActionSender(store: "counter", from: "tcp://127.0.0.1:\(port)", configuration: .quick)
                .started()
            #expect(try await sender.send(CounterIncreaseRequested()).revision == Revision(1))
        }
    }

    @Test func `a malformed store name is refused with a reason`() async throws {
        for name in ["", "a/b", "näme", String(repeating: "n", count: 65)] {
            let failure = #expect(throws: StatecastError.self) {
                try Replica<Counter>(store: name, from: "tcp://127.0.0.1:7100")
            }
            #expect(failure?.code == .definition)
        }
        #expect(throws: Never.self) {
            try Replica<Counter>(store: String(repeating: "n", count: 64), from: "tcp://127.0.0.1:1")
        }
    }
}
