import ArgumentParser
import FleetApp
import Foundation
import Statecast
import StatecastProtocol
import StatecastZeroMQ
import Synchronization

/// The process of an attack. It prints its counts until it is killed, or its standard input ends.
struct AttackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "attack", shouldDisplay: false)

    @Argument var scenario: String
    @Option var publish: String
    @Option var actions: String
    @Option var receipts: String
    @Option(parsing: .unconditional) var primaryKey: String
    @Option var keys: String

    func run() async throws {
        guard let scenario = Scenario.all.first(where: { $0.name == scenario }) else {
            throw ValidationError("no scenario is called \(scenario)")
        }
        let target = try AttackTarget(
            Endpoints(publish: publish, actions: actions, receipts: receipts),
            primaryKey: primaryKey,
            keyFile: keys
        )
        let tally = AttackTally()
        Thread.detachNewThread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            Foundation.exit(0)
        }
        for body in scenario.attack {
            Thread.detachNewThread { Self.ending { try body(target, tally) } }
        }
        while true {
            print(tally.sent.load(ordering: .relaxed), tally.answered.load(ordering: .relaxed))
            fflush(nil)
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// An attack ends only by an error.
    private static func ending(_ body: () throws -> Void) {
        do { try body() } catch { return fail(error) }
        fail("it ended")
    }

    private static func fail(_ error: some Sendable) {
        try? FileHandle.standardError.write(contentsOf: Data("the attack failed: \(error)\n".utf8))
        Foundation.exit(1)
    }
}

/// What an attack has done.
final class AttackTally: Sendable {
    let sent = Atomic<Int>(0)
    let answered = Atomic<Int>(0)

    func send(_ count: Int = 1) { sent.add(count, ordering: .relaxed) }
    func answer(_ count: Int = 1) { answered.add(count, ordering: .relaxed) }
}

/// A line of ``AttackTally``.
struct AttackCounts {
    var sent = 0
    var answered = 0

    init() {}

    init(_ line: Substring) {
        let numbers = line.split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 2 else { return }
        (sent, answered) = (numbers[0], numbers[1])
    }
}

/// A primary, and the keys of the attacker.
struct AttackTarget: Sendable {
    let endpoints: Endpoints
    private let member: CurveKeyPair
    private let primary: CurvePublicKey

    init(_ endpoints: Endpoints, primaryKey: String, keyFile: String) throws {
        func pair(_ path: String) throws -> CurveKeyPair {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("secret ") }),
                let pair = CurveKeyPair(secretText: line.dropFirst(7).utf8)
            else {
                throw TrialFailure("\(path) has no key")
            }
            return pair
        }
        guard let key = CurvePublicKey(primaryKey) else {
            throw TrialFailure("\(primaryKey) is no key")
        }
        self.endpoints = endpoints
        member = try pair(keyFile)
        primary = key
    }

    /// A connected socket that keeps no rule of a sender or replica.
    func socket(
        _ kind: SocketKind,
        at endpoint: String,
        _ change: (inout SocketOptions) -> Void = { _ in }
    ) throws -> Socket {
        let socket = try Socket(
            kind,
            options: .with {
                $0.security = .client(member, server: primary)
                $0.immediate = true
                $0.reconnectInterval = .milliseconds(10)
                // A SUB drops subscriptions beyond it, a PUSH keeps frames in memory.
                $0.sendHighWaterMark = kind == .push ? 64 : 1 << 20
                change(&$0)
            }
        )
        try socket.connect(Endpoint(endpoint))
        return socket
    }
}
