import CounterApp
import Statecast
import StatecastProtocol
import Testing

/// A proxy or a NAT may forget a connection: it stays open, and delivers nothing. New ones through the same proxy work.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A forgotten connection` {
    /// The sockets whose connections are forgotten.
    enum Forgotten: CaseIterable { case requests, actions, both }

    @Test(arguments: [false, true])
    func `A forgotten connection of a replica is replaced, and the replica shows the next state`(
        hasKeys: Bool
    ) async throws {
        try await withPrimary(hasKeys: hasKeys) { primary, member in
            let proxy = try ForgetfulProxy(to: primary.address.publish)
            var configuration = ReplicaConfiguration()
            configuration.limits = .reconnecting
            configuration.security = member
            let replica = try Replica<Counter>(store: "counter", from: proxy.endpoint, configuration: configuration)
                .started()
            for _ in 0..<3 {
                try await replica.reached(primary.primary.send(CounterIncreaseRequested()))
                #expect(proxy.forget() >= 1)
                try await replica.reached(primary.primary.send(CounterIncreaseRequested()))
            }
            #expect(proxy.forget() >= 1, "the last one was replaced, too")
        }
    }

    @Test(arguments: Forgotten.allCases, [false, true])
    func `A sender's forgotten connection is replaced, and each action is applied once`(
        forgotten: Forgotten,
        hasKeys: Bool
    ) async throws {
        try await withPrimary(hasKeys: hasKeys) { primary, member in
            let requests = try ForgetfulProxy(to: primary.address.receipts ?? primary.address.publish)
            let actions = try ForgetfulProxy(to: primary.address.actions)
            var configuration = SenderConfiguration()
            configuration.limits = .reconnecting
            configuration.security = member
            configuration.actions = actions.endpoint
            let sender = try ActionSender(store: "counter", from: requests.endpoint, configuration: configuration)
                .started()
            for round in 0..<3 {
                _ = try await sender.send(CounterIncreaseRequested())
                if forgotten != .actions { #expect(requests.forget() >= 1) }
                if forgotten != .requests { #expect(actions.forget() >= 1) }
                let pending = try await (0..<10).asyncMap { _ in try await sender.submit(CounterIncreaseRequested()) }
                for receipt in pending { _ = try await receipt.receipt() }
                #expect(await primary.primary.revision == Revision(UInt64(11 * (round + 1))))
            }
        }
    }

    private func withPrimary(
        hasKeys: Bool,
        _ body: ((primary: Primary<Counter>, address: PrimaryAddress), ClientSecurity?) async throws -> Void
    ) async throws {
        guard hasKeys else { return try await withCounter { try await body(($0.primary, $0.address), nil) } }
        let member = NodeKeys.generate()
        let cluster = try SecuredCounter(["\(member.publicKey) member follow=* send=*/*"])
        let address = try await cluster.node.start()
        try await body((cluster.primary, address), cluster.security(member))
        await cluster.node.stop()
    }
}

extension Limits {
    /// Quick limits, with which also a forgotten connection is replaced soon.
    fileprivate static var reconnecting: Limits {
        var limits = Limits.quick
        limits.maxReconnectJitter = .milliseconds(20)
        limits.maxReconnectDelay = .seconds(1)
        return limits
    }
}

extension Sequence {
    fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async throws -> [T] {
        var result: [T] = []
        for element in self { result.append(try await body(element)) }
        return result
    }
}
