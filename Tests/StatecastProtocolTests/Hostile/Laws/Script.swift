import StatecastCoding
import StatecastCore

@testable import StatecastProtocol

/// Decisions that the bytes of an input make, one after the other; zeros after the last byte.
///
/// It is also the source of a machine's random numbers, which do not consume the input.
struct Script: RandomNumberGenerator {
    private var bytes: ArraySlice<UInt8>
    private var random: UInt64 = 1

    /// The bytes of a run of a machine: a longer one finds no more, and takes longer.
    static let maxBytes = 512

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes)[...] }

    var isAtEnd: Bool { bytes.isEmpty }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        random &+= 0x9E37_79B9_7F4A_7C15
        var mixed = random
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }
    mutating func below(_ bound: Int) -> Int { Int(byte()) % bound }
    mutating func oneIn(_ count: Int) -> Bool { below(count) == 1 }
    mutating func element<Element>(of elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }

    /// A number near another one, a small one, one near the end of the range, or any.
    mutating func number(near base: UInt64 = 0) -> UInt64 {
        let byte = byte()
        switch byte {
        case 0..<128: return base &+ UInt64(byte % 16)
        case 128..<192: return base &- UInt64(byte % 16)
        case 192..<240: return UInt64(byte - 192)
        case 240..<248: return .max - UInt64(byte - 240)
        default: return (0..<8).reduce(0) { number, _ in number << 8 | UInt64(self.byte()) }
        }
    }

    mutating func quantity<Q: Quantity>(near base: Q = Q(0)) -> Q { Q(number(near: base.rawValue)) }

    /// A size or a count.
    mutating func count() -> Int { Int(clamping: number()) }

    /// Bytes of the input, after their number in two bytes.
    mutating func data() -> [UInt8] {
        let count = Int(byte()) | Int(byte() & 0x0F) << 8
        defer { bytes = bytes.dropFirst(count) }
        return Array(bytes.prefix(count))
    }

    /// The rest of the input.
    mutating func rest() -> [UInt8] {
        defer { bytes = [] }
        return Array(bytes)
    }

    // MARK: Parts of frames

    mutating func lineage() -> Lineage { Lineage(bits: oneIn(8) ? 0xB2 : 0xA1) }
    mutating func session() -> SessionID { secret().session }
    mutating func secret() -> SessionSecret { Self.secrets[below(4)] }
    static let secrets = (0..<4).map { SessionSecret(high: 0, low: $0) }
    mutating func duration() -> Duration { .milliseconds(Int64(clamping: number() & (1 << 40 - 1))) }

    mutating func rejection() -> Rejection {
        let codes: [Rejection.Code] = [
            .refused, .unknownSession, .overloaded, .tooLarge, .sessionDiverged, .snapshotGone, .unknownStore,
        ]
        let code = codes[below(codes.count)]
        return Rejection(code, String(repeating: "r", count: below(40)))
    }

    /// Runs of outcomes; fewer if a number is out of range.
    mutating func outcomes(near first: ActionNumber) -> OutcomeRuns {
        var outcomes = OutcomeRuns(first: quantity(near: first))
        for _ in 0...below(4) {
            let count = max(1, oneIn(8) ? count() : below(6))
            let outcome: Outcome = oneIn(4) ? .rejected(rejection()) : .applied(quantity())
            guard let run = OutcomeRun(first: outcomes.end, count: count, outcome: outcome),
                !outcomes.messageBytes.addingReportingOverflow(run.messageBytes).overflow
            else { break }
            outcomes.append(outcome, count: count)
        }
        return outcomes
    }
}

extension Topic {
    /// The topic's address in the store of the machines under test.
    var address: Address { Address(Self.store, self) }

    static let store: StoreName = {
        do { return try StoreName("fleet") } catch { preconditionFailure("\(error)") }
    }()
}

/// The subscriptions of a machine. A topic is subscribed to at most once.
struct Subscriptions {
    private(set) var topics: [Topic] = []

    mutating func subscribe(to topic: Topic) throws(BrokenLaw) {
        try require(!topics.contains(topic), "a second subscription to \(topic)")
        topics.append(topic)
    }

    mutating func unsubscribe(from topic: Topic) throws(BrokenLaw) {
        let index = topics.firstIndex(of: topic)
        try require(index != nil, "\(topic) is unsubscribed from, and was not subscribed to")
        if let index { topics.remove(at: index) }
    }
}
