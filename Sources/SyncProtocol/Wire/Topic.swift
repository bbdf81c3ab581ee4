/// What a message is about, within one store. A subscription to a topic is a request for what it names.
///
/// After a reconnect libzmq sends subscriptions again in alphabetical order, and a replica must be on the feed before
/// its join is answered: `feed` has to stay the first of the words that a replica uses.
package enum Topic: Hashable, Sendable {
    /// Updates and heartbeats, for everybody.
    case feed
    /// The answer to one join of a replica that stands at the position (`nil`: that has nothing yet).
    case join(Nonce, Position?)
    /// What becomes of the actions of one session.
    case receipts(SessionID)
    /// The actions that the store knows.
    case schema
    /// One chunk of a snapshot.
    case snapshot(Lineage, Revision, index: UInt32)
    /// Upwards: actions of a sender.
    case actions
}

/// A topic of a store, as it stands in front of every message: `sc1/<store>/<topic>` and a closing zero byte.
///
/// The zero byte is part of the subscription too, so that no topic is the prefix of another.
package struct Address: Hashable, Sendable {
    /// The version of the protocol that this code speaks.
    package static let version = 1

    package let store: StoreName
    package let topic: Topic

    package init(_ store: StoreName, _ topic: Topic) {
        self.store = store
        self.topic = topic
    }

    /// The bytes in front of a message and of a subscription, the closing zero byte included.
    package var bytes: [UInt8] {
        var text = "sc\(Self.version)/\(store)/"
        switch topic {
        case .feed: text += "feed"
        case .join(let nonce, let position): text += "join/\(nonce)/\(position.map(\.description) ?? "none")"
        case .receipts(let session): text += "receipts/\(session)"
        case .schema: text += "schema"
        case .snapshot(let lineage, let revision, let index): text += "snapshot/\(lineage)/\(revision)/\(index)"
        case .actions: text += "actions"
        }
        return Array(text.utf8) + [0]
    }
}
