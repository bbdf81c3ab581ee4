import Foundation
import SyncProtocol
import Threading
import ZeroMQ

/// Attacks by subscriptions on the endpoints for states and for receipts.
enum SubscriptionAttacks {
    /// Another topic of the maximum length with each subscription.
    @Sendable static func topics(
        at endpoint: @escaping @Sendable (Endpoints) -> String
    ) -> @Sendable (AttackTarget, AttackTally) throws -> Void {
        { target, tally in
            var random = SplitMix64(seed: .random(in: .min ... .max))
            while true {
                // A SUB keeps its topics, and sends them again after a reconnect.
                let socket = try target.socket(.sub, at: endpoint(target.endpoints))
                for index in 0..<20_000 {
                    let head = Array("sc2/fleet/\(index % 2 == 0 ? "join" : "receipts")/".utf8)
                    let tail = random.bytes(Limits.topicBytesMax - 1 - head.count).map { max(1, $0) }
                    try socket.subscribe(head + tail + [0])
                    tally.send()
                    try socket.drain(tally)
                }
            }
        }
    }

    /// Topics that cost libzmq most memory. A second connection ends subscriptions that it does not have, which libzmq
    /// reports as if they were those of the first.
    @Sendable static func hiddenTopics(
        at endpoint: @escaping @Sendable (Endpoints) -> String
    ) -> @Sendable (AttackTarget, AttackTally) throws -> Void {
        { target, tally in
            var random = SplitMix64(seed: .random(in: .min ... .max))
            while true {
                let holder = try target.socket(.xsub, at: endpoint(target.endpoints))
                let ender = try target.socket(.xsub, at: endpoint(target.endpoints))
                var topics: [[UInt8]] = []
                for index in 0..<20_000 {
                    topics.append(partingTopic(using: &random))
                    _ = try holder.send(frames: [[1] + topics[index]])
                    if index >= 100 { _ = try ender.send(frames: [[9], [0] + topics[index - 100]]) }
                    tally.send()
                    try holder.drain(tally)
                }
            }
        }
    }

    /// As many topics as a user may have, of those that cost libzmq most.
    @Sendable static func holdTopics(_ target: AttackTarget, _ tally: AttackTally) throws {
        var random = SplitMix64(seed: .random(in: .min ... .max))
        let holder = try target.socket(.xsub, at: target.endpoints.publish)
        // A topic costs 10.6 KB.
        for _ in 0..<(Limits().subscribedBytesMax / 8 / 12_000) {
            _ = try holder.send(frames: [[1] + partingTopic(using: &random)])
        }
        while true {
            _ = try holder.wait(for: .readable, timeout: .seconds(1))
            try holder.drain(tally)
        }
    }

    /// Connections that end when they are answered: libzmq looks for the topics of each.
    @Sendable static func reconnect(_ target: AttackTarget, _ tally: AttackTally) throws {
        while true {
            let socket = try target.socket(.sub, at: target.endpoints.publish)
            try socket.subscribe(Wire.address(.schema))
            tally.send()
            if try socket.wait(for: .readable, timeout: .milliseconds(100)) { tally.answer() }
        }
    }

    /// The connections of ``crowd(_:_:)``.
    static let crowdSize = 400

    /// Many connections, opened as slowly as permitted, that subscribe at the same time, each to fewer topics than are
    /// noticed of a single one.
    @Sendable static func crowd(_ target: AttackTarget, _ tally: AttackTally) throws {
        var random = SplitMix64(seed: .random(in: .min ... .max))
        let crowd = try (0..<crowdSize).map { _ in
            // 62 KB as they are sent.
            let topics = (0..<200).map { _ in partingTopic(using: &random) }
            let socket = try target.socket(.xsub, at: target.endpoints.publish)
            _ = try socket.send(frames: [[1] + Wire.address(.schema)])
            _ = try socket.wait(for: .readable, timeout: .milliseconds(100))
            Thread.sleep(forTimeInterval: 0.01)
            return CrowdMember(socket: socket, topics: topics)
        }
        while true {
            for member in crowd {
                for topic in member.topics { _ = try member.socket.send(frames: [[1] + topic]) }
                tally.send(member.topics.count)
            }
            for member in crowd { try member.socket.drain(tally) }
            Thread.sleep(forTimeInterval: 0.5)
        }
    }

    /// An array cannot hold a socket.
    private final class CrowdMember {
        let socket: Socket
        let topics: [[UInt8]]

        init(socket: consuming Socket, topics: [[UInt8]]) {
            self.socket = socket
            self.topics = topics
        }
    }

    /// A topic of the maximum length that parts from others at each of many bytes, for which libzmq needs most memory.
    private static func partingTopic(using random: inout SplitMix64) -> [UInt8] {
        let head = Array("sc2/fleet/join/".utf8) + random.bytes(16).map { $0 < 128 ? 1 : 255 }
        return head + [UInt8](repeating: UInt8(ascii: "0"), count: Limits.topicBytesMax - 1 - head.count) + [0]
    }

    /// The beginning and the end of a subscription to the same topic, again and again.
    @Sendable static func resubscribe(
        to topic: Topic,
        at endpoint: @escaping @Sendable (Endpoints) -> String
    ) -> @Sendable (AttackTarget, AttackTally) throws -> Void {
        { target, tally in
            let socket = try target.socket(.sub, at: endpoint(target.endpoints))
            let address = Wire.address(topic)
            while true {
                try socket.subscribe(address)
                try socket.unsubscribe(address)
                tally.send()
                try socket.drain(tally)
            }
        }
    }

    /// Joins without a state, and from an early revision.
    @Sendable static func joins(_ target: AttackTarget, _ tally: AttackTally) throws {
        var random = SplitMix64(seed: .random(in: .min ... .max))
        let socket = try target.socket(.sub, at: target.endpoints.publish)
        let welcome = try welcome(socket)
        let early = Position(lineage: welcome.lineage, epoch: welcome.epoch, revision: 1)
        while true {
            let addresses = (0..<64).map { index in
                Wire.address(.join(Nonce(using: &random), index % 2 == 0 ? nil : early))
            }
            for address in addresses { try socket.subscribe(address) }
            tally.send(addresses.count)
            try socket.drain(tally)
            for address in addresses { try socket.unsubscribe(address) }
        }
    }

    private static func welcome(_ socket: borrowing Socket) throws -> Welcome {
        var random = SplitMix64(seed: .random(in: .min ... .max))
        try socket.subscribe(Wire.address(.join(Nonce(using: &random), nil)))
        return try socket.await { topic, frame in if case .welcome(let welcome) = frame { welcome } else { nil } }
    }

    /// The connections of ``slowReader(_:_:)``.
    static let slowReaders = 8

    /// Requests all chunks of a snapshot again and again, and reads ten messages a second.
    @Sendable static func slowReader(_ target: AttackTarget, _ tally: AttackTally) throws {
        let joiner = try target.socket(.sub, at: target.endpoints.publish)
        let slow = try target.socket(.sub, at: target.endpoints.publish) {
            $0.receiveHighWaterMark = 1
            $0.receiveBufferBytes = 4096
        }
        while true {
            let welcome = try welcome(joiner)
            guard let offer = welcome.offer else { throw TrialFailure("the primary offers no snapshot") }
            let addresses = (0...(offer.bytes / offer.chunkBytes)).map { index in
                Wire.address(.snapshot(welcome.lineage, offer.revision, index: UInt32(index)))
            }
            for _ in 0..<50 {
                for address in addresses { try slow.subscribe(address) }
                tally.send(addresses.count)
                Thread.sleep(forTimeInterval: 0.1)
                if try slow.receive() != nil { tally.answer() }
                for address in addresses { try slow.unsubscribe(address) }
            }
        }
    }

    /// Reads all receipts, and subscribes to the topics of other users that it finds there.
    @Sendable static func stolenTopics(_ target: AttackTarget, _ tally: AttackTally) throws {
        let reader = try target.socket(.sub, at: target.endpoints.receipts)
        let thief = try target.socket(.sub, at: target.endpoints.receipts)
        try reader.subscribe([])
        tally.send()
        var topics: Set<[UInt8]> = []
        while true {
            for address in topics {
                try thief.subscribe(address)
                try thief.unsubscribe(address)
            }
            tally.send(topics.count)
            try thief.drain(tally)
            while case .message(let message)? = try reader.receive() {
                if let (address, _) = Message.split(message), topics.count < 64 { topics.insert(Array(address)) }
            }
        }
    }
}
