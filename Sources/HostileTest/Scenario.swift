import Statecast
import SyncProtocol
import Threading

/// An attack, and the memory that it may cost.
struct Scenario: Sendable {
    let name: String
    let summary: String
    /// The hosts that the fleet has besides those of the senders.
    var hosts = 0
    /// Whether one member attacks in all rounds, and keeps the rates. An idle session of an honest sender must outlive
    /// the attacks: the sessions of one user occupy its own share only.
    var isByOneMember = false
    /// The parts of the bound beyond the memory without an attack.
    let memory: [MemoryTerm]
    let attack: Attack

    init(
        _ name: String,
        _ summary: String,
        hosts: Int = 0,
        isByOneMember: Bool = false,
        costs: [MemoryTerm] = [],
        _ attack: Attack
    ) {
        self.name = name
        self.summary = summary
        self.hosts = hosts
        self.isByOneMember = isByOneMember
        self.memory = MemoryTerm.queues + costs
        self.attack = attack
    }
}

/// How the process of an attack works.
enum Attack: Sendable {
    /// Each on a thread of its own, until the process is killed.
    case threads([@Sendable (AttackTarget, AttackTally) throws -> Void])
    /// This many senders of the library, at full speed.
    case senders(Int)
}

/// A part of a bound of memory.
struct MemoryTerm: Sendable {
    let name: String
    let bytes: Int

    private static let limits = Limits()
    private static let configuration = PrimaryConfiguration()

    /// What a store keeps under any load of its members: updates for returning replicas, frames that wait for a turn,
    /// and records that are not stored.
    static let queues = [
        MemoryTerm(name: "ringBytesMax", bytes: limits.ringBytesMax),
        MemoryTerm(name: "heldBytesMax", bytes: limits.heldBytesMax),
        MemoryTerm(name: "uncommittedBytesMax", bytes: limits.uncommittedBytesMax),
    ]

    /// The outcomes that a store remembers.
    static let sessions = [
        MemoryTerm(name: "sessionRunsMax * 56", bytes: limits.sessionRunsMax * 56),
        MemoryTerm(
            name: "sessionsMax * sessionMessageBytesMax",
            bytes: limits.sessionsMax * limits.sessionMessageBytesMax
        ),
    ]

    /// libzmq's buffers of a connection: 8 KiB in each direction, a pipe in each direction with a first block of 256
    /// messages of 64 bytes, and those of the encryption.
    static func connections(_ count: Int) -> MemoryTerm {
        MemoryTerm(name: "\(count) connections * 64 KiB", bytes: count << 16)
    }

    static func subscriptions(sockets: Int) -> MemoryTerm {
        MemoryTerm(name: "\(sockets) * subscribedBytesMax", bytes: sockets * limits.subscribedBytesMax)
    }

    /// What is subscribed to before the system drops it: 2 MiB of many connections, or, if that is more, what libzmq's
    /// I/O thread decrypts within 40 ms, here 1 MiB. libzmq needs up to 42 bytes for each byte of topics that part at
    /// many bytes. While it releases those of two closed sockets of an endpoint, the next one is flooded.
    static func flood(endpoints: Int, mebibytes: Int) -> MemoryTerm {
        MemoryTerm(
            name: "\(endpoints * 3) sockets * 42 * \(mebibytes) MiB",
            bytes: endpoints * 3 * 42 * mebibytes << 20
        )
    }

    static let joins = MemoryTerm(name: "joinsWaitingMax * 1 KiB", bytes: limits.joinsWaitingMax << 10)

    /// Snapshots of a state of 4,096 hosts.
    static let snapshots = MemoryTerm(name: "snapshotsMax * 2 MiB", bytes: limits.snapshotsMax << 21)

    /// Chunks for subscribers that do not read.
    static func unreadChunks(connections: Int) -> MemoryTerm {
        let mark = configuration.publishHighWaterMark
        return MemoryTerm(
            name: "\(connections) * publishHighWaterMark * chunkBytesMax",
            bytes: connections * mark * limits.chunkBytesMax
        )
    }

    /// The frames of senders that wait in the socket: a window for each connection.
    static func windows(connections: Int) -> MemoryTerm {
        MemoryTerm(name: "\(connections) * windowBytesMax", bytes: connections * limits.windowBytesMax)
    }
}

extension Scenario {
    static let all: [Scenario] = [
        Scenario(
            "connections",
            "connections without a handshake: held up to the limit of open files, and opened and reset",
            costs: [.connections(1024)],
            .threads([ConnectionAttacks.hold, ConnectionAttacks.churn])
        ),
        Scenario(
            "handshakes",
            "complete handshakes of a member, and those of a key that is not listed, from four threads",
            costs: [.connections(1024)],
            .threads([
                ConnectionAttacks.handshakes, ConnectionAttacks.handshakes, ConnectionAttacks.strangersHandshakes,
                ConnectionAttacks.strangersHandshakes,
            ])
        ),
        Scenario(
            "half-frames",
            "handshakes and encrypted frames that end or stop at a random byte",
            costs: [.connections(1024), .windows(connections: 1)],
            .threads([ConnectionAttacks.halfHandshakes, ConnectionAttacks.cutFrames])
        ),
        Scenario(
            "oversize",
            "frames above the limit, and messages of 1,024 frames",
            costs: [.windows(connections: 1)],
            .threads([FrameAttacks.oversize])
        ),
        Scenario(
            "topics",
            "subscriptions to distinct topics of 245 bytes, at both endpoints",
            costs: [.flood(endpoints: 2, mebibytes: 1)],
            .threads([SubscriptionAttacks.topics(at: \.publish), SubscriptionAttacks.topics(at: \.receipts)])
        ),
        Scenario(
            "hidden-topics",
            "such subscriptions, whose ends are reported for another connection",
            costs: [.flood(endpoints: 2, mebibytes: 1)],
            .threads([
                SubscriptionAttacks.hiddenTopics(at: \.publish), SubscriptionAttacks.hiddenTopics(at: \.receipts),
            ])
        ),
        Scenario(
            "reconnect",
            "many topics, and connections that end again and again",
            costs: [.connections(1024), .subscriptions(sockets: 1)],
            .threads([SubscriptionAttacks.holdTopics] + Array(repeating: SubscriptionAttacks.reconnect, count: 8))
        ),
        Scenario(
            "crowd",
            "\(SubscriptionAttacks.crowdSize) connections that each subscribe to 200 topics at the same time",
            costs: [.connections(SubscriptionAttacks.crowdSize), .flood(endpoints: 1, mebibytes: 2)],
            .threads([SubscriptionAttacks.crowd])
        ),
        Scenario(
            "resubscribe",
            "subscriptions to the same topic, at both endpoints",
            .threads([
                SubscriptionAttacks.resubscribe(to: .schema, at: \.publish),
                SubscriptionAttacks.resubscribe(to: .receipts(SessionID(high: 1, low: 2)), at: \.receipts),
            ])
        ),
        Scenario(
            "stolen-topics",
            "subscriptions to the receipts of other users, whose topics it has read",
            .threads([SubscriptionAttacks.stolenTopics])
        ),
        Scenario(
            "joins",
            "joins of a large store, without a state and from an early revision",
            hosts: 4000,
            costs: [.joins, .snapshots, .subscriptions(sockets: 1)],
            .threads([SubscriptionAttacks.joins])
        ),
        Scenario(
            "slow-reader",
            "\(SubscriptionAttacks.slowReaders) connections that request the chunks of a large store and hardly read",
            hosts: 4000,
            costs: [.snapshots, .unreadChunks(connections: SubscriptionAttacks.slowReaders)],
            .threads(Array(repeating: SubscriptionAttacks.slowReader, count: SubscriptionAttacks.slowReaders))
        ),
        Scenario(
            "replayed",
            "a member's own frames again and again",
            costs: [.windows(connections: 1)],
            .threads([FrameAttacks.replayed])
        ),
        Scenario(
            "forged",
            "frames with a wrong lineage, number, session, base, store or version",
            costs: [.windows(connections: 1)],
            .threads([FrameAttacks.forged])
        ),
        Scenario(
            "sessions",
            "sessions at almost the permitted rate, all of one member",
            isByOneMember: true,
            costs: MemoryTerm.sessions + [.windows(connections: 1)],
            .threads([FrameAttacks.sessions(at: Limits().userSessionsPerSecondMax * 9 / 10)])
        ),
        Scenario(
            "session-flood",
            "sessions without end, one for each action",
            costs: MemoryTerm.sessions + [.windows(connections: 1)],
            .threads([FrameAttacks.sessions()])
        ),
        Scenario(
            "random",
            "10,000 random frames a second, half of them with a valid beginning",
            costs: [.windows(connections: 1)],
            .threads([FrameAttacks.random])
        ),
        Scenario(
            "overrun",
            "permitted actions in frames of the standard size, regardless of the window",
            costs: [.windows(connections: 1)],
            .threads([FrameAttacks.overrun])
        ),
        Scenario(
            "actions-1",
            "permitted actions at full speed from one sender of the library",
            costs: [.windows(connections: 1)],
            .senders(1)
        ),
        Scenario(
            "actions-16",
            "permitted actions at full speed from 16 senders of the library",
            costs: [.windows(connections: 16)],
            .senders(16)
        ),
    ]
}

extension Scenario {
    /// Beside what the attacks are compared with: it uses the processors as they do, and sends nothing.
    static let none = Scenario(
        "none",
        "two threads that compute",
        .threads([{ _, tally in try compute(tally) }, { _, tally in try compute(tally) }])
    )

    private static func compute(_ tally: AttackTally) throws {
        var random = SplitMix64(seed: .random(in: .min ... .max))
        while true {
            for _ in 0..<1_000_000 where random.next() == 0 { throw TrialFailure("a number that SplitMix64 skips") }
            tally.send()
        }
    }
}
