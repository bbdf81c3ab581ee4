/// What an item of CBOR is, as its first byte tells (RFC 8949, section 3).
package enum CBORKind: Hashable, Sendable {
    case unsigned, negative, bytes, text, array, map, tag, bool, null, float
    /// A simple value without a meaning here, or a byte that starts no item.
    case other

    init(initialByte: UInt8) {
        self =
            switch initialByte >> 5 {
            case 0: .unsigned
            case 1: .negative
            case 2: .bytes
            case 3: .text
            case 4: .array
            case 5: .map
            case 6: .tag
            default:
                switch initialByte {
                case 0xF4, 0xF5: .bool
                case 0xF6, 0xF7: .null
                case 0xF9, 0xFA, 0xFB: .float
                default: .other
                }
            }
    }

    /// The kind in words, for messages.
    var words: String {
        switch self {
        case .unsigned, .negative: "an integer"
        case .bytes: "a byte string"
        case .text: "a text"
        case .array: "an array"
        case .map: "a map"
        case .tag: "a tag"
        case .bool: "a bool"
        case .null: "null"
        case .float: "a float"
        case .other: "an unknown simple value"
        }
    }
}
