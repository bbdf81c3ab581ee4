/// A SUB and the XPUB that it is connected to: requests travel up, messages down, each in order.
struct Link {
    /// The subscriptions of the SUB, with their counts.
    private(set) var wanted: [[UInt8]: Int] = [:]
    /// The topics that the XPUB forwards, by the requests that have arrived.
    private(set) var filter: Set<[UInt8]> = []
    private var requests: [(begins: Bool, topic: [UInt8])] = []
    private(set) var messages: [[UInt8]] = []
    /// Its queue was full; it drops messages until the queue is half empty.
    private var isDropping = false

    static let messagesMax = 40

    var isQuiet: Bool { requests.isEmpty && messages.isEmpty }
    var hasRequests: Bool { !requests.isEmpty }

    mutating func subscribe(_ topic: [UInt8]) {
        wanted[topic, default: 0] += 1
        requests.append((true, topic))
    }

    mutating func unsubscribe(_ topic: [UInt8]) {
        guard let count = wanted[topic] else { return }
        wanted[topic] = count > 1 ? count - 1 : nil
        if count == 1 { requests.append((false, topic)) }
    }

    /// The next request to reach the primary.
    mutating func nextRequest() -> (begins: Bool, topic: [UInt8])? {
        guard !requests.isEmpty else { return nil }
        let request = requests.removeFirst()
        if request.begins { filter.insert(request.topic) } else { filter.remove(request.topic) }
        return request
    }

    mutating func publish(_ message: [UInt8], on topic: [UInt8]) {
        guard filter.contains(topic) else { return }
        if messages.count >= Self.messagesMax { isDropping = true }
        if messages.count <= Self.messagesMax / 2 { isDropping = false }
        if !isDropping { messages.append(message) }
    }

    /// The next message for the node; skips topics that it unsubscribed from.
    mutating func nextMessage() -> [UInt8]? {
        while !messages.isEmpty {
            let message = messages.removeFirst()
            if let zero = message.firstIndex(of: 0), wanted[Array(message[...zero])] != nil { return message }
        }
        return nil
    }

    /// Drops consecutive messages.
    mutating func loseBurst(using generator: inout SeededGenerator) {
        guard !messages.isEmpty else { return }
        let first = generator.below(messages.count)
        messages.removeSubrange(first..<(first + 1 + generator.below(messages.count - first)))
    }

    /// The connection breaks and is restored: messages in flight are lost, and the SUB subscribes again in
    /// alphabetical order.
    ///
    /// - Returns: the topics that the XPUB forwarded.
    mutating func reconnect() -> Set<[UInt8]> {
        defer { filter = [] }
        messages = []
        isDropping = false
        requests = wanted.keys.sorted { $0.lexicographicallyPrecedes($1) }.map { (true, $0) }
        return filter
    }
}
