import Foundation
import StatecastProtocol
import StatecastThreading
import StatecastZeroMQ

/// Attacks by subscriptions on the endpoints for states and for receipts.
enum SubscriptionAttacks {
    private static func welcome(_ socket: borrowing Socket) throws -> Welcome {
        var random = SplitMix64(seed: .random(in: .min ... .max))
        try socket.subscribe(Wire.address(.join(Nonce(using: &random), nil)))
        return try socket.await { topic, frame in if case .welcome(let welcome) = frame { welcome } else { nil } }
    }

    /// The connections of ``slowReaders(_:_:)``, how often each requests a snapshot, and the requests in a second.
    static let slowReaders = 60
    static let slowReaderRounds = 16
    static let slowReadersPerSecond = 100

    /// Requests all chunks of a snapshot, for one reader after the other, none of which reads: messages to several
    /// readers would share their memory. The readers do not connect again.
    @Sendable static func slowReaders(_ target: AttackTarget, _ tally: AttackTally) throws {
        let joiner = try target.socket(.sub, at: target.endpoints.publish)
        let readers = try (0..<slowReaders).map { _ in
            Held(
                try target.socket(.sub, at: target.endpoints.publish) {
                    $0.receiveHighWaterMark = 1
                    $0.receiveBufferBytes = 4096
                    $0.reconnectInterval = .seconds(3600)
                }
            )
        }
        for _ in 0..<slowReaderRounds {
            let welcome = try welcome(joiner)
            guard let offer = welcome.offer else { throw TrialFailure("the primary offers no snapshot") }
            let addresses = (0...(offer.bytes / offer.chunkBytes)).map { index in
                Wire.address(.snapshot(welcome.lineage, offer.revision, index: UInt32(index)))
            }
            for reader in readers {
                // libzmq takes notice of a new connection only in a call like this one.
                _ = try reader.value.wait(for: .readable, timeout: .zero)
                for address in addresses { try reader.value.subscribe(address) }
                tally.send()
                Thread.sleep(forTimeInterval: 1 / Double(slowReadersPerSecond))
                for address in addresses { try reader.value.unsubscribe(address) }
            }
        }
        withExtendedLifetime(readers) { while true { Thread.sleep(forTimeInterval: 1) } }
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
