import StatecastCoding
import StatecastCore

@testable import StatecastProtocol

/// Random numbers that a seed reproduces (SplitMix64). The seed is an argument of a test, so that a failure shows it.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// True once in `count` times.
    mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }
}

/// The seeds of a property test: all of them in a release build, the first fifth in a debug build, which is ten times
/// slower. CI runs both.
func seeds(_ all: Range<UInt64>) -> Range<UInt64> {
    #if DEBUG
        all.lowerBound..<(all.lowerBound + max(1, UInt64(all.count) / 5))
    #else
        all
    #endif
}

extension SeededGenerator {
    /// Small numbers and the ends of the range, where encodings differ.
    mutating func number() -> UInt64 {
        let edges: [UInt64] = [0, 1, 23, 24, 255, 256, 65_535, 65_536, 1 << 32, UInt64(Int64.max), .max]
        return oneIn(2) ? edges[below(edges.count)] : next() >> UInt64(below(64))
    }

    mutating func count() -> Int { Int(clamping: number()) }
    mutating func bytes(below bound: Int = 40) -> [UInt8] { (0..<below(bound)).map { _ in UInt8(below(256)) } }
    mutating func text() -> String { ["", "refused", "caf\u{E9}", "\u{1F600} or so"][below(4)] }
    mutating func lineage() -> Lineage { Lineage(bits: number()) }
    mutating func session() -> SessionID { secret().session }
    mutating func secret() -> SessionSecret { SessionSecret(high: number(), low: number()) }
    mutating func rejection() -> Rejection { Rejection(Rejection.Code(rawValue: text()), text()) }
    mutating func duration() -> Duration { .milliseconds(Int64(below(1 << 40))) }
    mutating func time() -> Timestamp { Timestamp(milliseconds: Int64(bitPattern: number())) }

    mutating func item() -> [UInt8] {
        Value.array([.unsigned(number()), .bytes(bytes()), .map([.text(text()): .null])]).encoded
    }

    /// Runs of any length, as far as their numbers are in range.
    mutating func outcomes() -> OutcomeRuns {
        var outcomes = OutcomeRuns(first: ActionNumber(number()))
        for _ in 0..<below(30) {
            let outcome: Outcome = oneIn(3) ? .rejected(rejection()) : .applied(Revision(number()))
            let count = oneIn(2) ? 1 : count()
            guard let run = OutcomeRun(first: outcomes.end, count: count, outcome: outcome),
                !outcomes.messageBytes.addingReportingOverflow(run.messageBytes).overflow
            else { continue }
            outcomes.append(outcome, count: count)
        }
        return outcomes
    }

    mutating func offer() -> Welcome.Offer {
        Welcome.Offer(revision: Revision(number()), bytes: count(), chunkBytes: count(), digest: number())
    }

    static var frameKinds: Range<Int> { 0..<10 }

    /// A frame of the kind with this number.
    mutating func frame(_ kind: Int) -> AnyFrame {
        guard kind == 9 else { return .published(publishedFrame(kind)) }
        let secret = secret()
        let frame = ActionsFrame(
            lineage: lineage(),
            session: secret.session,
            opened: JournalSequence(number()),
            base: ActionNumber(number()),
            lowest: ActionNumber(number()),
            first: ActionNumber(number()),
            actions: (0..<below(5)).map { _ in bytes() }
        )
        return .pushed(frame, secret)
    }

    private mutating func publishedFrame(_ kind: Int) -> Frame {
        let (lineage, epoch) = (lineage(), Epoch(number()))
        switch kind {
        case 0:
            let (from, to) = (Revision(number()), Revision(number()))
            return .update(Update(lineage: lineage, epoch: epoch, from: from, to: to, patch: item()))
        case 1:
            let head = Revision(number())
            return .heartbeat(Heartbeat(lineage: lineage, epoch: epoch, head: head, digest: number(), time: time()))
        case 2:
            return .welcome(
                Welcome(
                    lineage: lineage,
                    epoch: epoch,
                    head: Revision(number()),
                    time: time(),
                    stateVersion: number(),
                    heartbeatInterval: duration(),
                    offer: oneIn(2) ? offer() : nil
                )
            )
        case 3: return .chunk(Chunk(bytes: bytes(below: 400)[...]))
        case 4:
            return .watermark(
                Watermark(
                    lineage: lineage,
                    epoch: epoch,
                    number: oneIn(3) ? nil : ActionNumber(number()),
                    opened: JournalSequence(number()),
                    maxWindowActions: count(),
                    maxActionBytes: count(),
                    maxFrameBytes: count(),
                    endpoint: text()
                )
            )
        case 5:
            return .receipts(Receipts(lineage: lineage, epoch: epoch, outcomes: outcomes()))
        case 6: return .expected(Expected(lineage: lineage, number: ActionNumber(number())))
        case 7:
            let frame = Refusal.PushedFrame(opened: JournalSequence(number()), first: ActionNumber(number()))
            let retryAfter = oneIn(2) ? duration() : nil
            return .refusal(Refusal(rejection(), retryAfter: retryAfter, frame: oneIn(2) ? frame : nil))
        default:
            let entries = (0..<below(4)).map { _ in
                StoreSchema.Entry(name: text(), example: oneIn(2) ? item() : nil)
            }
            return .schema(
                StoreSchema(
                    lineage: lineage,
                    stateVersion: number(),
                    actions: entries,
                    epoch: epoch,
                    head: Revision(number()),
                    sessions: count(),
                    durability: oneIn(2) ? text() : nil
                )
            )
        }
    }
}
