internal import CZeroMQ

/// What a socket does with messages.
package enum SocketKind: Hashable, Sendable {
    /// Publishes, and receives its subscribers' subscriptions as messages: a byte 1 (subscribe) or 0, then the topic.
    case xpub
    /// Publishes.
    case pub
    /// Receives what it subscribed to, by prefix.
    case sub
    /// Sends each message to one of its peers, in turn.
    case push
    /// Receives from all its peers, fairly.
    case pull
    /// One peer, both ways.
    case pair

    var number: Int32 {
        switch self {
        case .xpub: ZMQ_XPUB
        case .pub: ZMQ_PUB
        case .sub: ZMQ_SUB
        case .push: ZMQ_PUSH
        case .pull: ZMQ_PULL
        case .pair: ZMQ_PAIR
        }
    }
}
