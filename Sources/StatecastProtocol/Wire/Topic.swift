/// The subject of a message within one store. A subscription to a topic requests the data that the topic names.
///
/// After a reconnect libzmq resends subscriptions in alphabetical order, and a replica must receive the feed before
/// the primary answers its join: `feed` must sort before the other topics of a replica.
package enum Topic: Hashable, Sendable {
    /// Updates and heartbeats for all subscribers.
    case feed
    /// The answer to one join of a replica at the position; `nil` if the replica has no state yet.
    case join(Nonce, Position?)
    /// The outcomes of one session's actions.
    case receipts(SessionID)
    /// The actions that the store accepts.
    case schema
    /// One chunk of a snapshot.
    case snapshot(Lineage, Revision, index: UInt32)
    /// The presence of a replica: subscribed as long as it is connected, with its position; `nil` without a state.
    /// Nothing is published on it.
    case peer(Nonce, PeerName, Position?)
    /// Actions from a sender to the primary.
    case actions
}

/// The address of a message: `sc2/<store>/<topic>` and a closing zero byte.
///
/// Subscriptions contain the zero byte, too, so that no topic is a prefix of another.
package struct Address: Hashable, Sendable {
    /// The protocol version of this implementation.
    package static let version = 2

    package let store: StoreName
    package let topic: Topic

    package init(_ store: StoreName, _ topic: Topic) {
        self.store = store
        self.topic = topic
    }

    /// The encoded address, the closing zero byte included.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        // Enough for the topics of most messages: the longest of them has 32 digits, and a zero byte follows.
        bytes.reserveCapacity(Self.start.count + store.text.utf8.count + "/receipts/".utf8.count + 33)
        bytes += Self.start
        bytes += store.text.utf8
        bytes.append(UInt8(ascii: "/"))
        switch topic {
        case .feed: bytes += "feed".utf8
        case .join(let nonce, let position): bytes += "join/\(nonce)/\(position.map(\.description) ?? "none")".utf8
        case .receipts(let session):
            bytes += "receipts/".utf8
            bytes += session.digits
        case .schema: bytes += "schema".utf8
        case .snapshot(let lineage, let revision, let index): bytes += "snapshot/\(lineage)/\(revision)/\(index)".utf8
        case .peer(let nonce, let name, let position):
            bytes += "peer/\(nonce)/\(name)/\(position.map(\.description) ?? "none")".utf8
        case .actions: bytes += "actions".utf8
        }
        bytes.append(0)
        return bytes
    }

    private static let start = Array("sc\(version)/".utf8)
}

/// The reason why bytes are not an address that this implementation serves.
package enum AddressFailure: Error, Hashable {
    /// Not of the form `sc<version>/<store>/<topic>`; the primary cannot answer.
    case malformed
    /// Well-formed, but of another protocol version.
    case unsupportedVersion
    /// Of this version and with a well-formed store name, but the topic is unknown; `expected` describes the valid
    /// form.
    case unknownTopic(StoreName, expected: String)
}

extension Address {
    /// Parses the address of a message or a subscription, the closing zero byte included.
    package init(parsing bytes: ArraySlice<UInt8>) throws(AddressFailure) {
        guard bytes.count <= Limits.maxTopicBytes, bytes.last == 0 else { throw .malformed }
        var fields = Fields(rest: bytes.dropLast(), separator: UInt8(ascii: "/"))
        guard let protocolName = fields.next(), let storeName = fields.next(), let topicName = fields.next(),
            let version = Self.version(protocolName)
        else { throw .malformed }
        guard version == Self.version else { throw .unsupportedVersion }
        guard let store = StoreName(utf8: storeName) else { throw .malformed }
        self.init(store, try Topic(named: topicName, parsing: &fields, of: store))
    }

    /// Parses `sc2` as 2; `nil` for anything but `sc` and up to three digits.
    private static func version(_ part: ArraySlice<UInt8>) -> Int? {
        guard (3...5).contains(part.count), part.starts(with: "sc".utf8) else { return nil }
        return decimal(part.dropFirst(2)).map { Int($0) }
    }

    /// Parses decimal digits without a sign or leading zeros: a number has exactly one topic.
    static func decimal(_ part: ArraySlice<UInt8>) -> UInt64? {
        guard let first = part.first, first != UInt8(ascii: "0") || part.count == 1 else { return nil }
        var number: UInt64 = 0
        for byte in part {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            let (tenfold, overflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, alsoOverflows) = tenfold.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            if overflows || alsoOverflows { return nil }
            number = sum
        }
        return number
    }
}

/// The parts of a text between its separators, of which some may be empty. They are not in an array, because each
/// message that arrives has an address.
struct Fields {
    /// `nil` after the last field.
    var rest: ArraySlice<UInt8>?
    let separator: UInt8

    var isAtEnd: Bool { rest == nil }

    mutating func next() -> ArraySlice<UInt8>? {
        guard let text = rest else { return nil }
        let end = text.firstIndex(of: separator)
        rest = end.map { text[($0 + 1)...] }
        return text[..<(end ?? text.endIndex)]
    }

    /// The only field that is left; `nil` if there is none or more than one.
    mutating func last() -> ArraySlice<UInt8>? {
        let field = next()
        return isAtEnd ? field : nil
    }
}

extension Topic {
    /// - Parameter fields: of the address, after the name of the topic.
    fileprivate init(
        named name: ArraySlice<UInt8>,
        parsing fields: inout Fields,
        of store: StoreName
    ) throws(AddressFailure) {
        switch (String(decoding: name, as: UTF8.self), isLast: fields.isAtEnd) {
        case ("feed", isLast: true): self = .feed
        case ("schema", isLast: true): self = .schema
        case ("actions", isLast: true): self = .actions
        case ("join", _):
            guard let nonce = fields.next().flatMap({ Hexadecimal.bits($0) }),
                let start = fields.last().flatMap(Self.start)
            else { throw .unknownTopic(store, expected: "join/<16 hex digits>/<none or lineage.epoch.revision>") }
            self = .join(Nonce(bits: nonce), start.position)
        case ("receipts", _):
            guard let session = fields.last().flatMap(SessionID.init(digits:)) else {
                throw .unknownTopic(store, expected: "receipts/<32 hex digits>")
            }
            self = .receipts(session)
        case ("snapshot", _):
            guard let lineage = fields.next().flatMap({ Hexadecimal.bits($0) }),
                let revision = fields.next().flatMap(Address.decimal),
                let index = fields.last().flatMap(Address.decimal).flatMap(UInt32.init(exactly:))
            else { throw .unknownTopic(store, expected: "snapshot/<16 hex digits>/<revision>/<index>") }
            self = .snapshot(Lineage(bits: lineage), Revision(revision), index: index)
        case ("peer", _):
            guard let nonce = fields.next().flatMap({ Hexadecimal.bits($0) }),
                let name = fields.next().flatMap(PeerName.init(utf8:)), let start = fields.last().flatMap(Self.start)
            else {
                throw .unknownTopic(store, expected: "peer/<16 hex digits>/<name>/<none or lineage.epoch.revision>")
            }
            self = .peer(Nonce(bits: nonce), name, start.position)
        default:
            throw .unknownTopic(store, expected: "feed, join/..., peer/..., receipts/..., schema or snapshot/...")
        }
    }

    /// The position of a joiner. The outer optional is `nil` if the text is not well-formed.
    private static func start(_ part: ArraySlice<UInt8>) -> (position: Position?, Void)? {
        part.elementsEqual("none".utf8) ? (nil, ()) : Position(utf8: part).map { ($0, ()) }
    }
}

extension Position {
    /// Reads the description in ASCII; `nil` if the text is malformed.
    package init?(utf8 text: ArraySlice<UInt8>) {
        var fields = Fields(rest: text, separator: UInt8(ascii: "."))
        guard let lineage = fields.next().flatMap({ Hexadecimal.bits($0) }),
            let epoch = fields.next().flatMap(Address.decimal), let revision = fields.last().flatMap(Address.decimal)
        else { return nil }
        self.init(lineage: Lineage(bits: lineage), epoch: Epoch(epoch), revision: Revision(revision))
    }
}
