package import StateCoding

/// One message on the wire: an address, its closing zero byte included, and a frame in CBOR. Always a single part.
package enum Message {
    /// The bytes to publish or push.
    package static func encode(_ frame: Frame, to address: Address) -> [UInt8] {
        encode(frame, behind: address.bytes)
    }

    /// The same behind an address that is already encoded, or that only a peer of another version can read.
    package static func encode(_ frame: Frame, behind address: some Collection<UInt8>) -> [UInt8] {
        CBORWriter.bytes(reserving: address.count + frame.bytesEstimate) { writer in
            writer.encoded(address)
            frame.write(to: &writer)
        }
    }

    /// Splits a message behind its first zero byte; `nil` if there is none within the length of a topic.
    package static func split(_ message: [UInt8]) -> (address: ArraySlice<UInt8>, body: ArraySlice<UInt8>)? {
        guard let zero = message.prefix(Limits.topicBytesMax).firstIndex(of: 0) else { return nil }
        return (message[...zero], message[(zero + 1)...])
    }

    /// Reads a whole message.
    ///
    /// - Throws: ``MessageFailure``, with the address where that much could be read.
    package static func decode(_ message: [UInt8]) throws(MessageFailure) -> (address: Address, frame: Frame) {
        guard let (head, body) = split(message) else { throw .noAddress(.malformed) }
        let address: Address
        do { address = try Address(parsing: head) } catch { throw .noAddress(error) }
        do { return (address, try Frame(decoding: body)) } catch { throw .malformedFrame(address, error) }
    }
}

/// Why a message could not be read.
package enum MessageFailure: Error, CustomStringConvertible {
    /// The bytes in front are not an address of this protocol.
    case noAddress(AddressFailure)
    /// The address is right, what stands behind it is not.
    case malformedFrame(Address, CodingFailure)

    /// One line.
    package var description: String {
        switch self {
        case .noAddress(let failure): "no address of this protocol (\(failure))"
        case .malformedFrame(let address, let failure):
            "\(String(decoding: address.bytes.dropLast(), as: UTF8.self)): \(failure)"
        }
    }
}

extension Frame {
    /// About how many bytes the frame takes, so that writing it seldom has to grow the buffer.
    fileprivate var bytesEstimate: Int {
        switch self {
        case .update(let update): 64 + update.patch.count
        case .chunk(let chunk): 16 + chunk.bytes.count
        case .receipts(let receipts): 48 + receipts.outcomes.count * 9
        case .actions(let frame): frame.actions.reduce(96) { $0 + $1.count + 5 }
        default: 256
        }
    }
}
