import Statecast
import StatecastProtocol

/// An attack, and the memory that it may cost.
struct Scenario: Sendable {
    let name: String
    let summary: String
    /// The hosts that the fleet has besides those of the senders.
    var hosts = 0
    /// Whether the member keeps the rates. An idle session of an honest sender must outlive
    /// the attacks: the sessions of one user occupy its own share only.
    var isByOneMember = false
    /// Whether the primary and the honest members use keys.
    var usesKeys = true
    /// What an attack on memory makes libzmq collect.
    var hoard: Hoard?
    /// The parts of the bound beyond the memory without an attack.
    let memory: [MemoryTerm]
    /// Each runs on a thread of its own, until the process is killed.
    let attack: [@Sendable (AttackTarget, AttackTally) throws -> Void]

    init(
        _ name: String,
        _ summary: String,
        hosts: Int = 0,
        isByOneMember: Bool = false,
        usesKeys: Bool = true,
        hoard: Hoard? = nil,
        costs: [MemoryTerm] = [],
        _ attack: [@Sendable (AttackTarget, AttackTally) throws -> Void]
    ) {
        self.name = name
        self.summary = summary
        self.hosts = hosts
        self.isByOneMember = isByOneMember
        self.usesKeys = usesKeys
        self.hoard = hoard
        self.memory = MemoryTerm.queues + costs + (hoard.map { [MemoryTerm(name: "hoard", bytes: $0.bytes)] } ?? [])
        self.attack = attack
    }
}

extension Scenario {
    /// Whether the attack makes a primary close its connections.
    func exceeds(_ maxMemory: Int) -> Bool { hoard.map { $0.bytes > maxMemory } ?? false }
}

/// The memory that an attack costs a primary without `maxMemory`, and by how much it grows in a second at most.
struct Hoard: Sendable {
    /// The messages, frames or connections of the attack, by which it counts.
    let count: Int
    let bytes: Int
    let bytesPerSecond: Int

    init(_ count: Int, perSecond: Int, bytesOfEach bytes: Int) {
        self.count = count
        self.bytes = count * bytes
        bytesPerSecond = perSecond * bytes
    }
}

/// A part of a bound of memory.
struct MemoryTerm: Sendable {
    let name: String
    let bytes: Int

    private static let limits = Limits()

    /// What a store keeps under any load of its members: updates for returning replicas, frames that wait for a turn,
    /// and records that are not stored.
    static let queues = [
        MemoryTerm(name: "maxRingBytes", bytes: limits.maxRingBytes),
        MemoryTerm(name: "maxHeldBytes", bytes: limits.maxHeldBytes),
        MemoryTerm(name: "maxUncommittedBytes", bytes: limits.maxUncommittedBytes),
    ]

    /// The outcomes that a store remembers.
    static let sessions = [
        MemoryTerm(name: "maxSessionRuns * 56", bytes: limits.maxSessionRuns * 56),
        MemoryTerm(
            name: "maxSessions * maxSessionMessageBytes",
            bytes: limits.maxSessions * limits.maxSessionMessageBytes
        ),
    ]

    /// libzmq's buffers of a connection: 8 KiB in each direction, a pipe in each direction with a first block of 256
    /// messages of 64 bytes, and those of the encryption.
    static func connections(_ count: Int) -> MemoryTerm {
        MemoryTerm(name: "\(count) connections * 64 KiB", bytes: count << 16)
    }

    /// Snapshots of a state of 4,096 hosts.
    static let snapshots = MemoryTerm(name: "maxSnapshots * 2 MiB", bytes: limits.maxSnapshots << 21)

    /// The frames of senders that wait in the socket: a window for each connection.
    static func windows(connections: Int) -> MemoryTerm {
        MemoryTerm(name: "\(connections) * maxWindowBytes", bytes: connections * limits.maxWindowBytes)
    }
}

extension Scenario {
    static let all: [Scenario] = [
        Scenario(
            "idle",
            "\(ConnectionAttacks.idleConnections) connections of a member that sends nothing",
            hoard: Hoard(
                ConnectionAttacks.idleConnections,
                perSecond: ConnectionAttacks.idleConnections,
                bytesOfEach: 64 << 10
            ),
            [ConnectionAttacks.idle]
        ),
        Scenario(
            "endless",
            "a message that does not end, in frames of one byte, to a primary without keys",
            usesKeys: false,
            // The size of libzmq's `zmq_msg_t`.
            hoard: Hoard(
                ConnectionAttacks.endlessFrames,
                perSecond: ConnectionAttacks.endlessFramesPerSecond,
                bytesOfEach: 64
            ),
            [ConnectionAttacks.endlessMessage]
        ),
        Scenario(
            "half-messages",
            "\(ConnectionAttacks.halfMessages) connections that stop before the end of a frame",
            hoard: Hoard(
                ConnectionAttacks.halfMessages,
                perSecond: ConnectionAttacks.halfMessagesPerSecond,
                bytesOfEach: ConnectionAttacks.halfMessageBytes + 64 << 10
            ),
            [ConnectionAttacks.halfMessages]
        ),
        Scenario(
            "half-frames",
            "handshakes and encrypted frames that end or stop at a random byte",
            costs: [.connections(1024), .windows(connections: 1)],
            [ConnectionAttacks.halfHandshakes, ConnectionAttacks.cutFrames]
        ),
        Scenario(
            "oversize",
            "frames above the limit, and messages of 1,024 frames",
            costs: [.windows(connections: 1)],
            [FrameAttacks.oversize]
        ),
        Scenario(
            "stolen-topics",
            "subscriptions to the receipts of other users, whose topics it has read",
            [SubscriptionAttacks.stolenTopics]
        ),
        Scenario(
            "slow-readers",
            "\(SubscriptionAttacks.slowReaders) connections that request the chunks of a large store and do not read",
            hosts: 4000,
            hoard: Hoard(
                SubscriptionAttacks.slowReaders * SubscriptionAttacks.slowReaderRounds,
                perSecond: SubscriptionAttacks.slowReadersPerSecond,
                bytesOfEach: 3 << 19
            ),
            costs: [.snapshots],
            [SubscriptionAttacks.slowReaders]
        ),
        Scenario(
            "replayed",
            "a member's own frames again and again",
            costs: [.windows(connections: 1)],
            [FrameAttacks.replayed]
        ),
        Scenario(
            "forged",
            "frames with a wrong lineage, number, session, base, store or version",
            costs: [.windows(connections: 1)],
            [FrameAttacks.forged]
        ),
        Scenario(
            "sessions",
            "sessions at almost the permitted rate, all of one member",
            isByOneMember: true,
            costs: MemoryTerm.sessions + [.windows(connections: 1)],
            [FrameAttacks.sessions(at: Limits().maxUserSessionsPerSecond * 9 / 10)]
        ),
        Scenario(
            "session-flood",
            "sessions without end, one for each action",
            costs: MemoryTerm.sessions + [.windows(connections: 1)],
            [FrameAttacks.sessions()]
        ),
        Scenario(
            "random",
            "10,000 random frames a second, half of them with a valid beginning",
            costs: [.windows(connections: 1)],
            [FrameAttacks.random]
        ),
        Scenario(
            "overrun",
            "permitted actions in frames of the standard size, regardless of the window",
            costs: [.windows(connections: 1)],
            [FrameAttacks.overrun]
        ),
    ]
}
