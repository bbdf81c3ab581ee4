/// The download of a snapshot: requests a few chunks ahead, and assembles them in any order of arrival.
struct SnapshotPull: Hashable, Sendable {
    let lineage: Lineage
    let offer: Welcome.Offer
    private var chunks: [ArraySlice<UInt8>?]
    private var missing: Int
    private var requested: UInt32 = 0
    /// The indexes of requested chunks that have not arrived.
    private(set) var outstanding: Set<UInt32> = []

    /// - Returns: `nil` if the offer is malformed, is larger than `maxBytes`, or has more chunks than
    ///   `Limits.maxSnapshotChunks`.
    init?(lineage: Lineage, offer: Welcome.Offer, maxBytes: Int) {
        guard offer.bytes > 0, offer.bytes <= maxBytes, offer.chunkBytes > 0 else { return nil }
        let count = (offer.bytes - 1) / offer.chunkBytes + 1
        guard count <= Limits.maxSnapshotChunks else { return nil }
        self.lineage = lineage
        self.offer = offer
        chunks = Array(repeating: nil, count: count)
        missing = count
    }

    var isComplete: Bool { missing == 0 }

    /// The whole snapshot; valid once complete.
    var bytes: [UInt8] {
        var all: [UInt8] = []
        all.reserveCapacity(offer.bytes)
        for case let chunk? in chunks { all.append(contentsOf: chunk) }
        return all
    }

    func topic(_ index: UInt32) -> Topic { .snapshot(lineage, offer.revision, index: index) }

    func isOf(_ topic: Topic) -> Bool {
        guard case .snapshot(let lineage, let revision, _) = topic else { return false }
        return lineage == self.lineage && revision == offer.revision
    }

    /// The topics to subscribe to next, so that `maxAhead` chunks are in flight.
    mutating func nextTopics(maxAhead: Int) -> [Topic] {
        var topics: [Topic] = []
        while outstanding.count < maxAhead, Int(requested) < chunks.count {
            outstanding.insert(requested)
            topics.append(topic(requested))
            requested += 1
        }
        return topics
    }

    /// Adds a chunk; returns `false` if it was not requested or has the wrong size.
    mutating func received(_ chunk: Chunk, index: UInt32) -> Bool {
        guard outstanding.contains(index), chunk.bytes.count == size(of: Int(index)) else { return false }
        outstanding.remove(index)
        chunks[Int(index)] = chunk.bytes
        missing -= 1
        return true
    }

    private func size(of index: Int) -> Int {
        min(offer.chunkBytes, offer.bytes - index * offer.chunkBytes)
    }
}
