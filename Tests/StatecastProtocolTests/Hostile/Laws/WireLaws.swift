import StatecastCore

@testable import StatecastCoding
@testable import StatecastProtocol

/// Laws of the readers of the wire, which hold for any bytes. Tests and a fuzzer check them.
enum WireLaws {
    /// The bytes as a frame, as a message, and as a subscription.
    static func check(_ bytes: [UInt8]) throws(BrokenLaw) {
        if let frame = try? Frame(decoding: bytes[...]) { try check(frame, from: bytes.count) }
        if let frame = try? ActionsFrame(decoding: bytes[...]) {
            try check(frame, from: bytes.count)
        } else {
            try require(!isActionsFrame(bytes), "a frame of actions is read if each of its elements is: \(bytes)")
        }
        try checkMessage(bytes)
        try checkSubscription(bytes)
        try checkPushed(bytes)
    }

    /// A frame has one encoding, which decodes to it, and whose size its first bytes bound.
    private static func check(_ frame: Frame, from byteCount: Int) throws(BrokenLaw) {
        let encoded = encoded(frame)
        let again = try must("a decoded frame can be encoded and read") { try Frame(decoding: encoded[...]) }
        try require(again == frame, "\(frame) is read again as \(again)")
        try require(Self.encoded(again) == encoded, "\(frame) has two encodings")
        // Two outcomes of one byte each become a run of three.
        try require(encoded.count <= 2 * byteCount, "a frame of \(byteCount) bytes is written as \(encoded.count)")
    }

    private static let secret = SessionSecret(high: 1, low: 2)

    /// A frame of actions has one encoding, but for its secret, which a decoded frame does not have.
    private static func check(_ frame: ActionsFrame, from byteCount: Int) throws(BrokenLaw) {
        let frame = frame.with(secret)
        let encoded = CBORWriter.bytes { frame.write(to: &$0, secret) }
        let again = try must("a decoded frame can be encoded and read") { try ActionsFrame(decoding: encoded[...]) }
        try require(again == frame, "\(frame) is read again as \(again)")
        try require(encoded.count <= 2 * byteCount, "a frame of \(byteCount) bytes is written as \(encoded.count)")
        try ActionsFrameLaws.check(frame)
    }

    /// Whether a reader finds the elements of a frame of actions one by one, and nothing after them.
    private static func isActionsFrame(_ bytes: [UInt8]) -> Bool {
        var reader = CBORReader(bytes, limits: .frame)
        do throws(CodingFailure) {
            guard try reader.arrayCount() == 8, try reader.unsigned() == 9 else { return false }
            for size in [8, 16] where try reader.bytes().count != size { return false }
            for _ in 0..<4 { _ = try reader.unsigned() }
            for _ in 0..<(try reader.arrayCount()) { _ = try reader.bytes() }
            try reader.requireEnd()
            return true
        } catch {
            return false
        }
    }

    private static func encoded(_ frame: Frame) -> [UInt8] { CBORWriter.bytes { frame.write(to: &$0) } }

    /// A topic has one form, and a message is read as its topic and its frame are.
    private static func checkMessage(_ bytes: [UInt8]) throws(BrokenLaw) {
        guard let (head, body) = Message.split(bytes) else { return }
        let (address, frame): (Address, Frame)
        do throws(MessageFailure) { (address, frame) = try Message.decode(bytes) } catch {
            // The reason is logged.
            return try require(!error.description.isEmpty, "a failure has a description")
        }
        try require(Array(head) == address.bytes, "\(address) has two forms, one is \(Array(head))")
        let isOfReceipts = if case .receipts = address.topic { true } else { false }
        try require(Message.isOfReceipts(bytes) == isOfReceipts, "the socket of \(address)")
        try check(frame, from: body.count)
        let message = Message.encode(frame, to: address)
        let again = try must("an encoded message can be read") { try Message.decode(message) }
        try require(again == (address, frame), "\(frame) on \(address) is read again as \(again)")
    }

    private static let stores: Set<StoreName> = {
        do { return [try StoreName("fleet"), try StoreName("b")] } catch { preconditionFailure("\(error)") }
    }()
    private static let router = FrameRouter(stores: stores)

    /// A subscription is routed by its only form, or refused on exactly its bytes.
    private static func checkSubscription(_ bytes: [UInt8]) throws(BrokenLaw) {
        switch router.subscription(bytes[...]) {
        case .store(let store, let topic):
            try require(stores.contains(store), "there is no store \(store)")
            try require(Address(store, topic).bytes == bytes, "\(topic) of \(store) has two forms, one is \(bytes)")
        case .answer(let refusal, let topic):
            try require(topic == bytes, "a subscription to \(bytes) is refused on \(topic)")
            try check(refusal, on: topic)
        case .drop: break
        }
    }

    /// A pushed message is delivered if its sender follows the protocol, and refused only on receipts that it names.
    private static func checkPushed(_ bytes: [UInt8]) throws(BrokenLaw) {
        switch router.actions(bytes) {
        case .store(let store, let frame):
            let header = frame.header
            try require(stores.contains(store), "there is no store \(store)")
            try require(header.count > 0 && header.count == frame.contents.count, "\(header) has a wrong count")
            try require(header.session != .primary, "a peer uses the session of the primary")
            try require(
                ActionNumber(1) <= header.base && header.base <= header.lowest && header.lowest <= header.first,
                "\(header) has numbers in a wrong order"
            )
            let own = frame.with(secret)
            let message = Message.encode(own, secret, to: Address(store, .actions).bytes)
            try require(router.actions(message) == .store(store, own), "\(own) has two routes")
        case .answer(let refusal, let topic):
            try require(refusal.frame != nil, "the refusal of a frame identifies it")
            try check(refusal, on: topic)
        case .drop: break
        }
    }

    /// A refusal reaches only the subscribers of its whole topic, in one message that they can read.
    private static func check(_ refusal: Refusal, on topic: [UInt8]) throws(BrokenLaw) {
        let isText = topic.starts(with: "sc".utf8) && topic.firstIndex(of: 0) == topic.count - 1
        try require(isText && topic.count <= Limits.maxTopicBytes, "\(topic) is no topic")
        let message = Message.encode(.refusal(refusal), to: topic)
        let parts = Message.split(message)
        try require(parts.map { Array($0.address) } == topic, "the refusal on \(topic) has another topic")
        let read = parts.flatMap { try? Frame(decoding: $0.body) }
        try require(read == .refusal(refusal), "the refusal on \(topic) cannot be read")
    }
}

extension ActionsFrame {
    /// The same frame in the session of a secret.
    fileprivate func with(_ secret: SessionSecret) -> ActionsFrame {
        ActionsFrame(
            lineage: header.lineage,
            session: secret.session,
            opened: header.opened,
            base: header.base,
            lowest: header.lowest,
            first: header.first,
            actions: contents
        )
    }
}
