import CounterApp
import Foundation
import Logging
import Statecast
import StatecastJournal
import StatecastZeroMQ

/// A node with keys that serves the counter app, and the keys of its users.
final class SecuredCounter: Sendable {
    /// The first line of its log when a list that permits less has been read.
    static let cut = "closing all connections, since the access list permits a peer less than before"

    let node: PrimaryNode
    let primary: Primary<Counter>
    let log = EventLog()
    private let keys: NodeKeys
    private let folder: TemporaryFolder
    private let list: String

    /// - Parameter lines: of the access list.
    init(
        _ lines: [String],
        keys: NodeKeys = .generate(),
        journal: (any Journal)? = nil,
        configure: (inout PrimaryConfiguration) -> Void = { _ in }
    ) throws {
        self.keys = keys
        folder = try TemporaryFolder()
        list = folder.path + "/access"
        var configuration = PrimaryConfiguration.quick
        configuration.receipts = "tcp://127.0.0.1:*"
        configuration.security = PrimarySecurity(keys: keys, accessList: list)
        configure(&configuration)
        try Self.write(lines, to: list)
        var logger = LogBook.logger(log)
        logger.logLevel = .debug
        node = try PrimaryNode(configuration: configuration, logger: logger)
        primary = try Primary.counter(on: node, journal: journal, logger: logger)
    }

    /// Replaces the list, and returns when it is in effect.
    func permit(_ lines: [String]) async throws {
        let before = log.events.count
        try write(lines)
        await node.reloadAccessList()
        try await waits { events in
            events.dropFirst(before).contains { $0.contains("was read again") || $0.contains("stays in effect") }
        }
    }

    func write(_ lines: [String]) throws { try Self.write(lines, to: list) }

    private static func write(_ lines: [String], to path: String) throws {
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: path), options: .atomic)
    }

    var publicKey: NodePublicKey { keys.publicKey }

    func security(_ user: NodeKeys, primary: NodePublicKey? = nil) -> ClientSecurity {
        ClientSecurity(keys: user, primary: primary ?? keys.publicKey)
    }

    func replica(_ security: ClientSecurity?, at endpoint: String? = nil) async throws -> Replica<Counter> {
        var configuration = ReplicaConfiguration.quick
        configuration.security = security
        let publish = try await node.address.publish
        return try Replica<Counter>(store: "counter", from: endpoint ?? publish, configuration: configuration).started()
    }

    func sender(
        _ security: ClientSecurity?,
        store: String = "counter",
        at endpoint: String? = nil
    ) async throws -> ActionSender {
        var configuration = SenderConfiguration.quick
        configuration.security = security
        let receipts = try await node.address.receipts ?? ""
        return try ActionSender(store: store, from: endpoint ?? receipts, configuration: configuration).started()
    }

    /// Returns when a connection to a socket was refused.
    func refused(_ key: NodePublicKey, at socket: String) async throws {
        try await waits { _ in refusals(of: key, at: socket) > 0 }
    }

    /// The number of starts after which a connection of the key to a socket was refused.
    func refusals(of key: NodePublicKey, at socket: String) -> Int {
        log.events.count { $0.contains("key=\(key)") && $0.contains("socket=\(socket)") }
    }

    /// Returns when a line of its log meets a condition.
    func logs(_ condition: (String) -> Bool) async throws { try await waits { $0.contains(where: condition) } }

    /// Returns when all connections of a socket were closed, because the list permits less.
    func cut() async throws { try await waits { $0.contains { $0.contains(Self.cut) } } }

    /// Returns when the node has dropped this number of messages that are not permitted.
    func dropped(_ count: Int) async throws {
        try await waits { $0.count { $0 == "debug: message dropped code=not-permitted" } >= count }
    }

    private func waits(until condition: ([String]) -> Bool) async throws {
        while !condition(log.events) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// A peer at an endpoint; `nil`: at the one for states or, to send, at the one for receipts.
    func peer(_ keys: CurveKeyPair, at endpoint: String? = nil, sends: Bool = false) async throws -> RawPeer {
        let address = try await node.address
        guard let server = CurvePublicKey(publicKey.description) else { throw StatecastError(.keys, "no key") }
        return try await RawPeer(
            address,
            at: endpoint ?? (sends ? address.receipts : nil),
            .client(keys, server: server)
        )
    }
}
