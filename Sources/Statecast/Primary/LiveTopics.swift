/// Counts the topics that are subscribed to. libzmq reports each subscription, and the end of the last one to a topic.
/// Keeps a hash of each topic, so that its own memory does not depend on the topics' lengths.
struct LiveTopics {
    private var hashes: Set<Int> = []

    var count: Int { hashes.count }

    /// Notes a message of an XPUB: a byte 1 (subscribed) or 0 (no longer), then the topic.
    mutating func note(_ message: [UInt8]) {
        switch message.first {
        case 1: hashes.insert(message.dropFirst().hashValue)
        case 0: hashes.remove(message.dropFirst().hashValue)
        default: break
        }
    }
}
