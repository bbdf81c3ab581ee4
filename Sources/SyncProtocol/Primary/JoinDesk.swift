import DequeModule
import OrderedCollections

/// The joins and chunk requests of a store that wait for their turn.
struct JoinDesk: Hashable, Sendable {
    /// A joiner: where the answer goes, and where the joiner stands.
    struct Request: Hashable, Sendable {
        let nonce: Nonce
        let position: Position?
        var topic: Topic { .join(nonce, position) }
    }

    /// In order of arrival. A joiner that leaves is dropped.
    private(set) var waiting: OrderedSet<Request> = []
    /// Those that need a snapshot which is being encoded.
    private(set) var awaitingSnapshot: OrderedSet<Request> = []
    /// Whether a snapshot is being encoded; it is finished even if all who waited for it have left.
    private var isEncoding = false
    /// Those whose snapshot has come; served first, and with that snapshot however much has changed since.
    private var snapshotReady: OrderedSet<Request> = []
    /// Chunks that somebody asked for, each once however many asked.
    private(set) var chunks: OrderedSet<ChunkRequest> = []
    var shelf = SnapshotShelf()
    /// Those for whom the journal is read.
    var past = PastDesk()

    struct ChunkRequest: Hashable, Sendable {
        let lineage: Lineage
        let revision: Revision
        let index: UInt32
        var topic: Topic { .snapshot(lineage, revision, index: index) }
    }

    var count: Int { waiting.count + awaitingSnapshot.count + snapshotReady.count + past.count }
    var isEmpty: Bool { waiting.isEmpty && snapshotReady.isEmpty && past.ready.isEmpty && chunks.isEmpty }

    mutating func enqueue(_ request: Request) { waiting.append(request) }
    mutating func enqueue(_ chunk: ChunkRequest) { chunks.append(chunk) }

    mutating func leave(_ request: Request) -> Bool {
        waiting.remove(request) != nil || awaitingSnapshot.remove(request) != nil
            || snapshotReady.remove(request) != nil || past.leave(request)
    }

    mutating func leave(_ chunk: ChunkRequest) { chunks.remove(chunk) }

    mutating func nextJoin() -> (request: Request, hasWaited: Bool)? {
        if !snapshotReady.isEmpty { return (snapshotReady.removeFirst(), true) }
        return waiting.isEmpty ? nil : (waiting.removeFirst(), false)
    }

    mutating func nextChunk() -> ChunkRequest? { chunks.isEmpty ? nil : chunks.removeFirst() }

    /// - Returns: whether nobody has asked for the snapshot yet, so that it has to be encoded.
    mutating func awaitSnapshot(_ request: Request) -> Bool {
        awaitingSnapshot.append(request)
        defer { isEncoding = true }
        return !isEncoding
    }

    /// The snapshot cannot be had.
    ///
    /// - Returns: those who waited for it.
    mutating func snapshotFailed() -> OrderedSet<Request> {
        isEncoding = false
        defer { awaitingSnapshot = [] }
        return awaitingSnapshot
    }

    /// The snapshot is there.
    mutating func snapshotArrived() {
        isEncoding = false
        snapshotReady.formUnion(awaitingSnapshot)
        awaitingSnapshot = []
    }
}
