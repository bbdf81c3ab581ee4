import FleetApp
import Foundation
import Statecast
import StatecastCoding
import StatecastProtocol

/// A sender that keeps the rules, and remembers all of its receipts.
actor HonestSender {
    let sender: ActionSender
    private let name: String
    private var submitted = 0
    private(set) var record = Record()
    var confirmed: Int { record.receipts.count }

    /// What the primary has confirmed.
    struct Record: Sendable {
        var receipts: [Receipt] = []
        /// Actions that were not applied, by the reason.
        var failures: [String] = []
    }

    /// - Parameter name: the beginning of the names of its hosts.
    init(_ name: String, _ sender: ActionSender) {
        self.name = name
        self.sender = sender
    }

    /// The actions that are submitted together.
    private static let batchCount = 256
    /// The actions without a receipt are at most these batches.
    private static let maxBatches = 16
    private static let hosts = 16

    private func nextAction() -> HostSampled {
        submitted += 1
        return HostSampled(host: "\(name)-\(submitted % Self.hosts)", sample: .example)
    }

    /// The actions that it sends in a second at most: below the limit of a user, `maxUserActionsPerSecond`.
    private static let rate = 80_000.0

    /// Sends as many actions as its window and its rate allow.
    func load(until end: ContinuousClock.Instant) async throws {
        var waiting: [[PendingReceipt]] = []
        var sent = 0
        let start = ContinuousClock.now
        while .now < end || !waiting.isEmpty {
            if !waiting.isEmpty, .now >= end || waiting.count == Self.maxBatches {
                for pending in waiting.removeFirst() { note(try await pending.outcome().result) }
                continue
            }
            try await Task.sleep(until: start + .seconds(Double(sent) / Self.rate), clock: .continuous)
            sent += Self.batchCount
            var batch: [PendingReceipt] = []
            for _ in 0..<Self.batchCount { batch.append(try await sender.submit(nextAction())) }
            waiting.append(batch)
        }
    }

    /// Sends one action at a time, at least one.
    ///
    /// - Returns: the longest time of one.
    @discardableResult
    func send(until end: ContinuousClock.Instant = .now) async throws -> Duration {
        var longest = Duration.zero
        repeat {
            let start = ContinuousClock.now
            note(try await sender.submit(nextAction()).outcome().result)
            longest = max(longest, start.duration(to: .now))
        } while .now < end
        return longest
    }

    /// Adds hosts to the fleet, each with the longest name.
    func addHosts(_ count: Int) async throws {
        for index in 0..<count {
            let name = "\(name)-filler-\(index)-"
            let action = HostSampled(
                host: name.padding(toLength: FleetLimits.maxNameBytes, withPad: "x", startingAt: 0),
                sample: .example
            )
            let pending = try await sender.submit(action)
            if index % 1000 == 999 || index == count - 1 { _ = try await pending.outcome() }
            fillers.append(pending)
        }
        for pending in fillers { note(try await pending.outcome().result) }
        fillers = []
    }

    private var fillers: [PendingReceipt] = []

    private func note(_ result: Result<Receipt, Rejection>) {
        switch result {
        case .success(let receipt): record.receipts.append(receipt)
        case .failure(let rejection): record.failures.append("\(rejection)")
        }
    }
}

/// The keys of a trial's members, in files, and the access list.
struct Members {
    let primary: NodePublicKey
    private let plan: HostilePlan
    /// Whether the primary and the honest members use their keys.
    private let useKeys: Bool

    static let honest = ["honest-1", "honest-2"]
    static let board = "board"
    /// Has the rights to follow and to send.
    static let attacker = "mallory"

    init(_ plan: HostilePlan, useKeys: Bool) throws {
        self.plan = plan
        self.useKeys = useKeys
        func make(_ name: String) throws -> NodePublicKey {
            let keys = NodeKeys.generate()
            try keys.write(toNewFileAt: plan.path(name + ".key"))
            return keys.publicKey
        }
        primary = try make("primary")
        var list = ""
        for name in Self.honest { list += "\(try make(name)) \(name) send=*/*\n" }
        list += "\(try make(Self.board)) \(Self.board) follow=*\n"
        list += "\(try make(Self.attacker)) \(Self.attacker) follow=* send=*/*\n"
        try Data(list.utf8).write(to: URL(filePath: plan.path("access")))
    }

    func security(of name: String) throws -> ClientSecurity? {
        guard useKeys else { return nil }
        return ClientSecurity(keys: try NodeKeys(readingFileAt: plan.path(name + ".key")), primary: primary)
    }

    func sender(_ name: String, at endpoint: String) throws -> ActionSender {
        var configuration = SenderConfiguration()
        configuration.security = try security(of: name)
        configuration.maxBusyPolling = .zero
        return try ActionSender(store: Fleet.storeName, from: endpoint, configuration: configuration)
    }

    func replica(at endpoint: String) throws -> Replica<Value> {
        var configuration = ReplicaConfiguration()
        configuration.security = try security(of: Self.board)
        configuration.maxBusyPolling = .zero
        return try Replica(untyped: Fleet.storeName, from: endpoint, configuration: configuration)
    }
}
