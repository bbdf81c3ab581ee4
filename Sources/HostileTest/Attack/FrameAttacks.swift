import Foundation
import StatecastProtocol
import StatecastThreading
import StatecastZeroMQ

/// Attacks by messages on the endpoint for actions.
enum FrameAttacks {
    /// 10,000 frames a second, a quarter of them each: random bytes, random bytes after a valid address, a valid frame
    /// with a random byte, and the beginning of a valid frame.
    @Sendable static func random(_ target: AttackTarget, _ tally: AttackTally) throws {
        var random = SplitMix64(seed: .random(in: .min ... .max))
        let session = try RawSession(target)
        let valid = session.message(from: 1, count: 2)
        let start = ContinuousClock.now
        for index in 0... {
            if index % 100 == 0 {
                let ahead = ContinuousClock.now.duration(to: start + .microseconds(100 * index))
                if ahead > .zero { Thread.sleep(forTimeInterval: ahead / .seconds(1)) }
            }
            var frame = valid
            switch index % 4 {
            case 0: frame = random.bytes(Int(random.next() % 600))
            case 1: frame = Wire.address(.actions) + random.bytes(Int(random.next() % 600))
            case 2: frame[Int(random.next() % UInt64(valid.count))] = UInt8(truncatingIfNeeded: random.next())
            default: frame.removeLast(Int(random.next() % UInt64(valid.count)))
            }
            try session.frames.push(frame)
            tally.send()
            try session.outcomes.drain(tally)
        }
    }

    /// The frames of a session, sent again and again.
    @Sendable static func replayed(_ target: AttackTarget, _ tally: AttackTally) throws {
        let session = try RawSession(target)
        let count = 32
        let frames = (0..<256).map { session.message(from: UInt64($0 * count + 1), count: count) }
        while true {
            for frame in frames {
                try session.frames.push(frame)
                tally.send()
                try session.outcomes.drain(tally)
            }
        }
    }

    /// Frames with one wrong part: lineage, number, session, time of opening, base, store and version.
    @Sendable static func forged(_ target: AttackTarget, _ tally: AttackTally) throws {
        var random = SplitMix64(seed: .random(in: .min ... .max))
        let session = try RawSession(target)
        let (store, version) = (Array("sc2/other/actions\0".utf8), Array("sc9/fleet/actions\0".utf8))
        let opened = session.watermark.opened
        while true {
            let other = SessionSecret(using: &random)
            let frames = [
                session.message(from: 1, count: 1, lineage: Lineage(bits: random.next())),
                session.message(from: random.next(), count: 1),
                session.message(from: 2 + random.next() % 1000, count: 1, secret: other),
                session.message(from: 1, count: 1, secret: other, opened: opened.advanced(by: 1 << 40)),
                session.message(from: 5, count: 1, secret: other, base: 9),
                session.message(from: 1, count: 1, to: store),
                session.message(from: 1, count: 1, to: version),
            ]
            for frame in frames { try session.frames.push(frame) }
            tally.send(frames.count)
            try session.outcomes.drain(tally)
        }
    }

    /// A session for each action.
    ///
    /// - Parameter rate: sessions per second; `nil`: as many as possible.
    @Sendable static func sessions(
        at rate: Int? = nil
    ) -> @Sendable (AttackTarget, AttackTally) throws -> Void {
        { target, tally in
            var random = SplitMix64(seed: .random(in: .min ... .max))
            while true {
                // A new watermark from time to time: sessions that were opened before the forgotten ones are unknown.
                let session = try RawSession(target)
                for _ in 0..<(rate ?? 1024) {
                    try session.frames.push(session.message(from: 1, count: 1, secret: SessionSecret(using: &random)))
                    tally.send()
                    if let rate { Thread.sleep(forTimeInterval: 1 / Double(rate)) }
                }
                try session.outcomes.drain(tally)
            }
        }
    }

    /// Frames of the standard size without waiting for receipts, from the number that the primary expects.
    @Sendable static func overrun(_ target: AttackTarget, _ tally: AttackTally) throws {
        let session = try RawSession(target)
        let count = 1024
        var next: UInt64 = 1
        while true {
            try session.frames.push(session.message(from: next, count: count))
            tally.send()
            next += UInt64(count)
            while case .message(let message)? = try session.outcomes.receive() {
                tally.answer()
                if case (_, .expected(let expected))? = try? Message.decode(message) { next = expected.number.rawValue }
            }
        }
    }

    /// Frames above the limit, which are counted, and above twice the limit, which end the connection; messages of
    /// many frames.
    @Sendable static func oversize(_ target: AttackTarget, _ tally: AttackTally) throws {
        let limit = Limits().maxFrameBytes
        let frames = try target.socket(.push, at: target.endpoints.actions)
        let parts = Array(repeating: [UInt8](repeating: 0, count: 64 << 10), count: 1024)
        while true {
            for bytes in [limit * 3 / 2, limit * 3] {
                try frames.push(Wire.address(.actions) + [UInt8](repeating: 0, count: bytes))
                tally.send()
            }
            while try !frames.send(frames: parts) { _ = try frames.wait(for: .writable, timeout: .milliseconds(100)) }
            tally.send()
        }
    }
}
