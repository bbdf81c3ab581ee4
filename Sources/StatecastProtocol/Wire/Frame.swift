package import StatecastCoding

/// The content of a message after its address, as a primary publishes it: a CBOR array whose first element is the kind.
///
/// Readers ignore additional elements, so that later versions can append some. A primary receives frames of another
/// form: see ``ActionsFrame``.
package enum Frame: Hashable, Sendable {
    case update(Update)
    case heartbeat(Heartbeat)
    case welcome(Welcome)
    case chunk(Chunk)
    case watermark(Watermark)
    case receipts(Receipts)
    case expected(Expected)
    case refusal(Refusal)
    case schema(StoreSchema)
}

extension Frame {
    /// The incarnation of the primary that published it; `nil` if the frame does not tell.
    var incarnation: Incarnation? {
        switch self {
        case .update(let update): Incarnation(lineage: update.lineage, epoch: update.epoch)
        case .heartbeat(let heartbeat): Incarnation(lineage: heartbeat.lineage, epoch: heartbeat.epoch)
        case .welcome(let welcome): Incarnation(lineage: welcome.lineage, epoch: welcome.epoch)
        case .watermark(let watermark): Incarnation(lineage: watermark.lineage, epoch: watermark.epoch)
        case .receipts(let receipts): Incarnation(lineage: receipts.lineage, epoch: receipts.epoch)
        case .chunk, .expected, .refusal, .schema: nil
        }
    }
}

/// The first element of a frame.
package enum FrameKind: UInt64, CaseIterable, Sendable {
    case update = 0
    case heartbeat = 1
    case welcome = 2
    case chunk = 3
    case watermark = 4
    case receipts = 5
    case expected = 6
    case refusal = 7
    case schema = 8
    case actions = 9

    /// The number of elements after the kind in this version.
    var fieldCount: Int {
        switch self {
        case .chunk: 1
        case .expected: 2
        case .refusal, .receipts: 4
        case .update, .heartbeat: 5
        case .actions, .welcome, .schema: 7
        case .watermark: 8
        }
    }
}

extension Frame {
    package var kind: FrameKind {
        switch self {
        case .update: .update
        case .heartbeat: .heartbeat
        case .welcome: .welcome
        case .chunk: .chunk
        case .watermark: .watermark
        case .receipts: .receipts
        case .expected: .expected
        case .refusal: .refusal
        case .schema: .schema
        }
    }

    package func write(to writer: inout CBORWriter) {
        switch self {
        case .update(let update): update.write(to: &writer)
        case .heartbeat(let heartbeat): heartbeat.write(to: &writer)
        case .welcome(let welcome): welcome.write(to: &writer)
        case .chunk(let chunk): chunk.write(to: &writer)
        case .watermark(let watermark): watermark.write(to: &writer)
        case .receipts(let receipts): receipts.write(to: &writer)
        case .expected(let expected): expected.write(to: &writer)
        case .refusal(let refusal): refusal.write(to: &writer)
        case .schema(let schema): schema.write(to: &writer)
        }
    }

    /// Decodes a frame, and skips elements of later versions.
    ///
    /// - Throws: ``CodingFailure`` for anything that is not a frame of a known kind; never traps.
    package init(decoding bytes: ArraySlice<UInt8>) throws(CodingFailure) {
        var reader = CBORReader(bytes, limits: .frame)
        let (kind, laterCount) = try reader.frameHead()
        switch kind {
        case .update: self = .update(try Update(from: &reader))
        case .heartbeat: self = .heartbeat(try Heartbeat(from: &reader))
        case .welcome: self = .welcome(try Welcome(from: &reader))
        case .chunk: self = .chunk(Chunk(bytes: try reader.bytes()[...]))
        case .watermark: self = .watermark(try Watermark(from: &reader))
        case .receipts: self = .receipts(try Receipts(from: &reader))
        case .expected: self = .expected(try Expected(from: &reader))
        case .refusal: self = .refusal(try Refusal(from: &reader))
        case .schema: self = .schema(try StoreSchema(from: &reader))
        case .actions: throw CodingFailure(.malformed, "a frame of actions is for a primary")
        }
        for _ in 0..<laterCount { try reader.skip() }
        try reader.requireEnd()
    }

    /// The approximate encoded size, so that the buffer seldom has to grow.
    fileprivate var bytesEstimate: Int {
        switch self {
        case .update(let update): 64 + update.patch.count
        case .chunk(let chunk): 16 + chunk.bytes.count
        case .receipts(let receipts): 48 + receipts.outcomes.runCount * 24
        default: 256
        }
    }
}

extension CodingLimits {
    /// A patch nests up to about twice as deep as its state, and is nested in a frame.
    static let frame = CodingLimits(maxDepth: 3 * CodingLimits.standard.maxDepth)
}

extension CBORReader {
    /// Reads the kind of a frame.
    ///
    /// - Returns: the kind, and the number of elements that later versions have appended.
    mutating func frameHead() throws(CodingFailure) -> (kind: FrameKind, laterCount: Int) {
        let count = try arrayCount()
        let number = count > 0 ? try unsigned() : .max
        guard let kind = FrameKind(rawValue: number) else {
            throw CodingFailure(
                .malformed,
                "a frame begins with its kind, 0 to 9, got \(count > 0 ? "\(number)" : "nothing")"
            )
        }
        guard count > kind.fieldCount else {
            throw CodingFailure(
                .malformed,
                "a frame of kind \(number) has at least \(kind.fieldCount + 1) elements, got \(count)"
            )
        }
        return (kind, count - kind.fieldCount - 1)
    }
}

extension CBORWriter {
    /// Begins the array of a frame.
    mutating func begin(_ kind: FrameKind) {
        array(count: kind.fieldCount + 1)
        unsigned(kind.rawValue)
    }
}

/// The encoding of messages: an address with its closing zero byte, and a frame in CBOR. A message has a single part.
package enum Message {
    /// Encodes a message.
    package static func encode(_ frame: Frame, to address: Address) -> [UInt8] {
        encode(frame, to: address.bytes)
    }

    /// Encodes a message to an encoded address, which may be one of another protocol version.
    package static func encode(_ frame: Frame, to address: some Collection<UInt8>) -> [UInt8] {
        CBORWriter.bytes(reserving: address.count + frame.bytesEstimate) { writer in
            writer.encoded(address)
            frame.write(to: &writer)
        }
    }

    /// Encodes a message of actions.
    ///
    /// - Parameter secret: of the frame's session.
    package static func encode(
        _ frame: ActionsFrame,
        _ secret: SessionSecret,
        to address: some Collection<UInt8>
    ) -> [UInt8] {
        CBORWriter.bytes(reserving: address.count + 96 + frame.actions.count) { writer in
            writer.encoded(address)
            frame.write(to: &writer, secret)
        }
    }

    /// Splits a message after its first zero byte; `nil` without one within the maximum size of a topic.
    package static func split(_ message: [UInt8]) -> (address: ArraySlice<UInt8>, body: ArraySlice<UInt8>)? {
        guard let zero = message.prefix(Limits.maxTopicBytes).firstIndex(of: 0) else { return nil }
        return (message[...zero], message[(zero + 1)...])
    }

    /// Whether a message is to the receipts of a session, in any version of the protocol.
    package static func isOfReceipts(_ message: [UInt8]) -> Bool {
        guard let (head, _) = split(message) else { return false }
        let parts = head.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count > 3 && parts[parts.count - 2].elementsEqual("receipts".utf8)
    }

    /// Decodes a message.
    ///
    /// - Throws: ``MessageFailure``, with the address if that is readable.
    package static func decode(_ message: [UInt8]) throws(MessageFailure) -> (address: Address, frame: Frame) {
        guard let (head, body) = split(message) else { throw .noAddress(.malformed) }
        let address: Address
        do { address = try Address(parsing: head) } catch { throw .noAddress(error) }
        do { return (address, try Frame(decoding: body)) } catch { throw .malformedFrame(address, error) }
    }
}

/// The reason why a message could not be decoded.
package enum MessageFailure: Error, CustomStringConvertible {
    /// The message does not begin with an address of this protocol.
    case noAddress(AddressFailure)
    /// The address is valid, the frame is not.
    case malformedFrame(Address, CodingFailure)

    package var description: String {
        switch self {
        case .noAddress(let failure): "no address of this protocol (\(failure))"
        case .malformedFrame(let address, let failure):
            "\(String(decoding: address.bytes.dropLast(), as: UTF8.self)): \(failure)"
        }
    }
}
