import StatecastCoding
import StatecastProtocol
import Testing

/// A frame of either direction.
enum AnyFrame: Hashable {
    case published(Frame)
    case pushed(ActionsFrame, SessionSecret)

    init(decoding bytes: ArraySlice<UInt8>) throws(CodingFailure) {
        let actions: ActionsFrame
        do throws(CodingFailure) { actions = try ActionsFrame(decoding: bytes) } catch {
            self = .published(try Frame(decoding: bytes))
            return
        }
        var reader = CBORReader(bytes)
        _ = try (reader.arrayCount(), reader.unsigned(), reader.bytes())
        let secret = try reader.bytes()
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self = .pushed(actions, SessionSecret(high: word(secret[..<8]), low: word(secret[8...])))
    }

    var encoded: [UInt8] {
        CBORWriter.bytes { writer in
            switch self {
            case .published(let frame): frame.write(to: &writer)
            case .pushed(let frame, let secret): frame.write(to: &writer, secret)
            }
        }
    }
}

extension Message {
    /// The actions of a message to any store.
    static func decodeActions(_ message: [UInt8]) throws -> ActionsFrame {
        try ActionsFrame(decoding: try #require(split(message)).body)
    }
}
