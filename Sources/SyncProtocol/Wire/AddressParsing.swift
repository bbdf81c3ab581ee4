/// Why bytes are not an address that this code can serve, and how much of them could be read.
package enum AddressFailure: Error, Hashable {
    /// Not of the form `sc<version>/<store>/<topic>`; nobody can be answered.
    case malformed
    /// Of that form, but of another version of the protocol.
    case unsupportedVersion
    /// Of this version and for a well-formed store name, but the topic is none; the text says what was expected.
    case unknownTopic(StoreName, expected: String)
}

extension Address {
    /// Reads the address from the bytes in front of a message, or of a subscription, the closing zero byte included.
    package init(parsing bytes: ArraySlice<UInt8>) throws(AddressFailure) {
        guard bytes.count <= Limits.topicBytesMax, bytes.last == 0 else { throw .malformed }
        let parts = bytes.dropLast().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count >= 3, let version = Self.version(parts[0]) else { throw .malformed }
        guard version == Self.version else { throw .unsupportedVersion }
        guard let store = StoreName(utf8: parts[1]) else { throw .malformed }
        self.init(store, try Topic(parsing: parts[2...], of: store))
    }

    /// `sc1` is 1. `nil` for anything but `sc` and up to three digits.
    private static func version(_ part: ArraySlice<UInt8>) -> Int? {
        guard part.starts(with: "sc".utf8), (3...5).contains(part.count) else { return nil }
        return decimal(part.dropFirst(2)).map { Int($0) }
    }

    /// Decimal digits without a sign or leading zeros: one number has one topic.
    static func decimal(_ part: ArraySlice<UInt8>) -> UInt64? {
        guard let first = part.first, first != UInt8(ascii: "0") || part.count == 1 else { return nil }
        guard part.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return UInt64(String(decoding: part, as: UTF8.self))
    }
}

extension Topic {
    init(parsing parts: ArraySlice<ArraySlice<UInt8>>, of store: StoreName) throws(AddressFailure) {
        let parts = Array(parts)
        switch (String(decoding: parts[0], as: UTF8.self), parts.count) {
        case ("feed", 1): self = .feed
        case ("schema", 1): self = .schema
        case ("actions", 1): self = .actions
        case ("join", _):
            guard parts.count == 3, let nonce = Hexadecimal.bits(parts[1]), let start = Self.start(parts[2]) else {
                throw .unknownTopic(store, expected: "join/<16 hex digits>/<none or lineage.epoch.revision>")
            }
            self = .join(Nonce(bits: nonce), start.position)
        case ("receipts", _):
            guard parts.count == 2, let session = SessionID(String(decoding: parts[1], as: UTF8.self)) else {
                throw .unknownTopic(store, expected: "receipts/<32 hex digits>")
            }
            self = .receipts(session)
        case ("snapshot", _):
            guard parts.count == 4, let lineage = Hexadecimal.bits(parts[1]),
                let revision = Address.decimal(parts[2]),
                let index = Address.decimal(parts[3]).flatMap(UInt32.init(exactly:))
            else { throw .unknownTopic(store, expected: "snapshot/<16 hex digits>/<revision>/<index>") }
            self = .snapshot(Lineage(bits: lineage), Revision(revision), index: index)
        default:
            throw .unknownTopic(store, expected: "feed, join/..., receipts/..., schema or snapshot/...")
        }
    }

    /// Where a joiner stands. The outer optional says whether the text is well-formed.
    private static func start(_ part: ArraySlice<UInt8>) -> (position: Position?, Void)? {
        if part.elementsEqual("none".utf8) { return (nil, ()) }
        let fields = part.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard fields.count == 3, let lineage = Hexadecimal.bits(fields[0]),
            let epoch = Address.decimal(fields[1]), let revision = Address.decimal(fields[2])
        else { return nil }
        return (Position(lineage: Lineage(bits: lineage), epoch: Epoch(epoch), revision: Revision(revision)), ())
    }
}
