import OrderedCollections

/// The queue of a store's joins and chunk requests, with the catch-up reads that they wait for.
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
    /// Joins that wait for a read of the journal.
    var catchUps = CatchUpQueue()

    var count: Int { waiting.count + awaitingSnapshot.count + snapshotReady.count + catchUps.count }
    var isEmpty: Bool { waiting.isEmpty && snapshotReady.isEmpty && catchUps.ready.isEmpty && chunks.isEmpty }

    mutating func enqueue(_ request: Request) { waiting.append(request) }
    mutating func enqueue(_ chunk: ChunkRequest) { chunks.append(chunk) }

    /// A join that was requested again while it waited for a snapshot or a read is in several queues.
    mutating func remove(_ request: Request) -> Bool {
        let removed = [
            waiting.remove(request) != nil, awaitingSnapshot.remove(request) != nil,
            snapshotReady.remove(request) != nil, catchUps.remove(request),
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

/// The joins whose position precedes the updates in memory: the missing updates are read from the journal.
///
/// Runs one read at a time, and finishes it even if all waiting joiners leave, so that a joiner that asks repeatedly
/// costs no more than one read.
struct CatchUpQueue: Hashable, Sendable {
    /// The revision after which the current read begins.
    private var reading: Revision?
    /// The joins that wait for the current read.
    private var awaiting: OrderedSet<JoinQueue.Request> = []
    /// Finished reads.
    private(set) var ready: [Read] = []

    /// The result of a read for one join.
    struct Read: Hashable, Sendable {
        let request: JoinQueue.Request
        /// The updates after the joiner's position; `nil` if they exceed the limits or are no longer kept.
        let updates: [Update]?
    }

    var count: Int { awaiting.count + ready.count }

    /// The result of queueing a join.
    enum Enqueued {
        /// The caller has to start the read.
        case read
        /// The join waits for the current read, which begins at the same revision.
        case wait
        /// The current read begins at another revision; the join is not queued.
        case busy
    }

    mutating func enqueue(_ request: JoinQueue.Request, after revision: Revision) -> Enqueued {
        guard reading == nil || reading == revision else { return .busy }
        awaiting.append(request)
        defer { reading = revision }
        return reading == nil ? .read : .wait
    }

    mutating func finish(_ updates: [Update]?, after revision: Revision) {
        guard reading == revision else { return }
        reading = nil
        ready += awaiting.map { Read(request: $0, updates: updates) }
        awaiting = []
    }

    mutating func dequeue() -> Read? { ready.isEmpty ? nil : ready.removeFirst() }

    mutating func remove(_ request: JoinQueue.Request) -> Bool {
        let wasAwaiting = awaiting.remove(request) != nil
        let readyCount = ready.count
        ready.removeAll { $0.request == request }
        return wasAwaiting || ready.count < readyCount
    }
}
