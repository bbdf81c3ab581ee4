import FleetApp
import Statecast
import StatecastCoding
import StatecastCore
import StatecastProtocol
import StatecastThreading
import StatecastZeroMQ

/// The messages of an attack, by the encoding of the protocol.
enum Wire {
    static let store = fleet(Fleet.storeName)
    static let action = encoded(HostSampled(host: "mallory", sample: .example))

    static func address(_ topic: Topic) -> [UInt8] { Address(store, topic).bytes }

    private static func fleet(_ name: String) -> StoreName {
        do { return try StoreName(name) } catch { preconditionFailure("\(error)") }
    }

    private static func encoded(_ action: HostSampled) -> [UInt8] {
        do { return try NamedEncoding.encode(action, name: HostSampled.name) { Array($0) } } catch {
            preconditionFailure("\(error)")
        }
    }
}

extension Socket {
    /// Sends as soon as there is room.
    func push(_ message: [UInt8]) throws {
        while try !send(message) { _ = try wait(for: .writable, timeout: .milliseconds(100)) }
    }

    /// Drops what has arrived.
    func drain(_ tally: AttackTally) throws {
        while try receive() != nil { tally.answer() }
    }

    /// Waits for a frame that fulfils a condition.
    func await<T>(_ condition: (Topic, Frame) -> T?) throws -> T {
        while true {
            while case .message(let message)? = try receive() {
                guard let (address, frame) = try? Message.decode(message) else { continue }
                if let found = condition(address.topic, frame) { return found }
            }
            _ = try wait(for: .readable, timeout: .milliseconds(100))
        }
    }
}

/// A value that an array cannot contain.
final class Held<Value: ~Copyable> {
    let value: Value
    init(_ value: consuming Value) { self.value = value }
}

/// A session of a sender that keeps no rule.
struct RawSession: ~Copyable {
    let secret: SessionSecret
    let watermark: Watermark
    /// Subscribed to the session's receipts.
    let outcomes: Socket
    let frames: Socket

    init(_ target: AttackTarget) throws {
        var generator = SystemRandomNumberGenerator()
        let secret = SessionSecret(using: &generator)
        let outcomes = try target.socket(.sub, at: target.endpoints.receipts)
        let frames = try target.socket(.push, at: target.endpoints.actions)
        try outcomes.subscribe(Wire.address(.receipts(secret.session)))
        watermark = try outcomes.await { _, frame in
            if case .watermark(let watermark) = frame { watermark } else { nil }
        }
        self.secret = secret
        self.outcomes = outcomes
        self.frames = frames
    }

    /// A message of actions. What is not given is as the primary expects it.
    func message(
        from first: UInt64,
        count: Int,
        lineage: Lineage? = nil,
        secret: SessionSecret? = nil,
        opened: JournalSequence? = nil,
        base: UInt64 = 1,
        to address: [UInt8] = Wire.address(.actions)
    ) -> [UInt8] {
        let secret = secret ?? self.secret
        let frame = ActionsFrame(
            lineage: lineage ?? watermark.lineage,
            session: secret.session,
            opened: opened ?? watermark.opened,
            base: ActionNumber(base),
            first: ActionNumber(first),
            actions: Array(repeating: Wire.action, count: count)
        )
        return Message.encode(frame, secret, to: address)
    }
}

extension SplitMix64 {
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}
