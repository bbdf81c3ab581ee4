package import StateCoding
import StateCore

/// The first element of a frame.
enum FrameKind: UInt64 {
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
}

extension Frame {
    /// Appends the frame as one CBOR array.
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
        case .actions(let actions): actions.write(to: &writer)
        }
    }
}

extension CBORWriter {
    fileprivate mutating func begin(_ kind: FrameKind, count: Int) {
        array(count: count + 1)
        unsigned(kind.rawValue)
    }
}

extension Update {
    fileprivate func write(to writer: inout CBORWriter) {
        writer.begin(.update, count: 5)
        writer.write(lineage)
        writer.write(epoch)
        writer.write(from)
        writer.write(to)
        writer.encoded(patch)
    }
}

extension Heartbeat {
    fileprivate func write(to writer: inout CBORWriter) {
        writer.begin(.heartbeat, count: 5)
        writer.write(lineage)
        writer.write(epoch)
        writer.write(head)
        writer.unsigned(digest)
        writer.write(time)
    }
}

extension Welcome {
    fileprivate func write(to writer: inout CBORWriter) {
        writer.begin(.welcome, count: 7)
        writer.write(lineage)
        writer.write(epoch)
        writer.write(head)
        writer.write(time)
        writer.unsigned(fingerprint)
        writer.write(heartbeatInterval)
        guard let offer else { return writer.null() }
        writer.array(count: 4)
        writer.write(offer.revision)
        writer.write(count: offer.bytes)
        writer.write(count: offer.chunkBytes)
        writer.unsigned(offer.digest)
    }
}

extension Chunk {
    fileprivate func write(to writer: inout CBORWriter) {
        writer.begin(.chunk, count: 1)
        writer.bytes(Array(bytes))
    }
}

extension Watermark {
    fileprivate func write(to writer: inout CBORWriter) {
        writer.begin(.watermark, count: 8)
        writer.write(lineage)
        writer.write(epoch)
        if let number { writer.write(number) } else { writer.null() }
        writer.write(opened)
        writer.write(count: windowActionsMax)
        writer.write(count: actionBytesMax)
        writer.write(count: frameBytesMax)
        writer.text(endpoint)
    }
}

extension Receipts {
    fileprivate func write(to writer: inout CBORWriter) {
        writer.begin(.receipts, count: 4)
        writer.write(lineage)
        writer.write(epoch)
        writer.write(first)
        writer.write(outcomes)
    }
}

extension Expected {
    fileprivate func write(to writer: inout CBORWriter) {
        writer.begin(.expected, count: 2)
        writer.write(lineage)
        writer.write(number)
    }
}

extension Refusal {
    fileprivate func write(to writer: inout CBORWriter) {
        writer.begin(.refusal, count: 4)
        writer.write(reason)
        if let retryAfter { writer.write(retryAfter) } else { writer.null() }
        guard let frame else { return writer.null() }
        writer.array(count: 2)
        writer.write(frame.opened)
        writer.write(frame.first)
    }
}

extension StoreSchema {
    fileprivate func write(to writer: inout CBORWriter) {
        writer.begin(.schema, count: 7)
        writer.write(lineage)
        writer.unsigned(fingerprint)
        writer.array(count: actions.count)
        for action in actions {
            writer.array(count: 2)
            writer.text(action.name)
            if let example = action.example { writer.encoded(example) } else { writer.null() }
        }
        writer.write(epoch)
        writer.write(head)
        writer.write(count: sessions)
        if let durability { writer.text(durability) } else { writer.null() }
    }
}

extension ActionsFrame {
    fileprivate func write(to writer: inout CBORWriter) {
        writer.begin(.actions, count: 6)
        writer.write(lineage)
        writer.write(session)
        writer.write(opened)
        writer.write(base)
        writer.write(first)
        writer.array(count: actions.count)
        for action in actions { writer.bytes(action) }
    }
}
