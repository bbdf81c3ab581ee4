import OrderedCollections

/// The queue of a store's joins and chunk requests.
struct JoinQueue: Hashable, Sendable {
    /// A join: its topic and the joiner's position.
    struct Request: Hashable, Sendable {
        let nonce: Nonce
        let position: Position?
        var topic: Topic { .join(nonce, position) }
    }

    struct ChunkRequest: Hashable, Sendable {
        let lineage: Lineage
        let revision: Revision
        let index: UInt32
        var topic: Topic { .snapshot(lineage, revision, index: index) }
    }

    /// Joins in order of arrival. A joiner that unsubscribes is removed.
    private var waiting: OrderedSet<Request> = []
    /// Joins that wait for the snapshot that is being encoded.
    private var awaitingSnapshot: OrderedSet<Request> = []
    /// Whether a snapshot is being encoded. The encoding finishes even if all waiting joiners leave.
    private var isEncoding = false
    /// Joins whose snapshot is ready. They are served first, and with that snapshot however much has changed since.
    private var snapshotReady: OrderedSet<Request> = []
    /// Requested chunks, each once.
    private var chunks: OrderedSet<ChunkRequest> = []

    var count: Int { waiting.count + awaitingSnapshot.count + snapshotReady.count }
    var isEmpty: Bool { waiting.isEmpty && snapshotReady.isEmpty && chunks.isEmpty }

    mutating func enqueue(_ request: Request) { waiting.append(request) }
    mutating func enqueue(_ chunk: ChunkRequest) { chunks.append(chunk) }

    /// A join that was requested again while it waited for a snapshot is in two queues.
    mutating func remove(_ request: Request) -> Bool {
        let removed = [
            waiting.remove(request) != nil, awaitingSnapshot.remove(request) != nil,
            snapshotReady.remove(request) != nil,
        ]
        return removed.contains(true)
    }

    mutating func remove(_ chunk: ChunkRequest) { chunks.remove(chunk) }

    mutating func dequeueJoin() -> (request: Request, hasWaited: Bool)? {
        if !snapshotReady.isEmpty { return (snapshotReady.removeFirst(), true) }
        return waiting.isEmpty ? nil : (waiting.removeFirst(), false)
    }

    mutating func dequeueChunk() -> ChunkRequest? { chunks.isEmpty ? nil : chunks.removeFirst() }

    /// - Returns: whether the caller has to encode the snapshot, because no encoding is in progress.
    mutating func awaitSnapshot(_ request: Request) -> Bool {
        awaitingSnapshot.append(request)
        defer { isEncoding = true }
        return !isEncoding
    }

    /// The snapshot could not be encoded.
    ///
    /// - Returns: the joins that waited for it.
    mutating func snapshotFailed() -> OrderedSet<Request> {
        isEncoding = false
        defer { awaitingSnapshot = [] }
        return awaitingSnapshot
    }

    /// The snapshot is encoded and cached.
    mutating func snapshotEncoded() {
        isEncoding = false
        snapshotReady.formUnion(awaitingSnapshot)
        awaitingSnapshot = []
    }
}
