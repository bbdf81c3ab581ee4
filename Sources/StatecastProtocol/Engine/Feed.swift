import StatecastCoding
import StatecastCore

/// The published side of a store for replicas: the head, the last updates, snapshots for joiners, and heartbeats.
///
/// Joins and chunk requests are answered a bounded number at a time, at the end of a turn; schema requests at once, but
/// once in a turn.
struct Feed: Hashable, Sendable {
    private let incarnation: Incarnation
    private let settings: StoreSettings
    private var limits: Limits { settings.limits }
    private let actions: [StoreSchema.Entry]
    /// The starts of the previous incarnations.
    private let epochs: EpochTable

    /// The last published revision, which replicas may have.
    private var head: Revision
    /// The digest and size of the state at the head.
    private var summary: Summary
    private var ring: UpdateRing
    private var joins = JoinQueue()
    private var cache = SnapshotCache()
    private var heartbeatDue: Instant
    private var hasAnsweredSchema = false

    init(_ history: History, _ settings: StoreSettings, actions: [StoreSchema.Entry], now: Instant) {
        incarnation = history.incarnation
        epochs = history.epochs
        self.settings = settings
        self.actions = actions
        head = history.head
        summary = history.summary
        ring = history.ring
        heartbeatDue = now
    }

    /// The next update: the head moves to its end, with this summary of the state.
    mutating func append(_ update: Update, summary: Summary) {
        head = update.to
        self.summary = summary
        ring.append(update, limits: limits)
    }

    // MARK: Time

    /// The time of the next `tick`.
    var nextDeadline: Instant {
        min(heartbeatDue, cache.nextExpiry(retention: limits.snapshotRetention) ?? heartbeatDue)
    }

    /// Makes a heartbeat when it is due. `time` is the wall clock.
    mutating func tick(at now: Instant, time: Timestamp) -> Heartbeat? {
        cache.expire(at: now, retention: limits.snapshotRetention)
        guard now >= heartbeatDue else { return nil }
        heartbeatDue = now.advanced(by: limits.heartbeatInterval)
        let (lineage, epoch) = (incarnation.lineage, incarnation.epoch)
        return Heartbeat(lineage: lineage, epoch: epoch, head: head, digest: summary.digest, time: time)
    }

    // MARK: Requests

    /// A subscription to a topic that the feed answers.
    ///
    /// - Parameter sessions: the number of sessions.
    mutating func subscribed(to topic: Topic, sessions: Int, into directives: inout [StoreDirective]) {
        switch topic {
        case .schema:
            guard !hasAnsweredSchema else { return }
            hasAnsweredSchema = true
            directives.append(.publish(.schema, .schema(schema(sessions: sessions))))
        case .join(let nonce, let position):
            guard joins.count < limits.maxWaitingJoins else {
                let reason = Rejection(.busy, "\(limits.maxWaitingJoins) joins are waiting already; try again")
                directives.append(.count(.refused(.busy)))
                let refusal = Refusal(reason, retryAfter: limits.minRetryDelay)
                return directives.append(.publish(topic, .refusal(refusal)))
            }
            joins.enqueue(JoinQueue.Request(nonce: nonce, position: position))
        case .snapshot(let lineage, let revision, let index):
            guard lineage == incarnation.lineage,
                let snapshot = cache.snapshots.first(where: { $0.revision == revision }),
                snapshot.chunk(index, chunkBytes: limits.chunkBytes) != nil
            else { return refuseChunk(topic, into: &directives) }
            joins.enqueue(JoinQueue.ChunkRequest(lineage: lineage, revision: revision, index: index))
        case .feed, .actions, .receipts, .peer: break
        }
    }

    /// The last subscriber of a topic is gone.
    mutating func unsubscribed(from topic: Topic, into directives: inout [StoreDirective]) {
        switch topic {
        case .join(let nonce, let position):
            let isRemoved = joins.remove(JoinQueue.Request(nonce: nonce, position: position))
            if isRemoved { directives.append(.count(.joinAbandoned)) }
        case .snapshot(let lineage, let revision, let index):
            joins.remove(JoinQueue.ChunkRequest(lineage: lineage, revision: revision, index: index))
        case .feed, .actions, .schema, .receipts, .peer: break
        }
    }

    /// Whether `serve` has work.
    var hasRequests: Bool { !joins.isEmpty || hasAnsweredSchema }

    /// The number of queued joins.
    var joinsWaiting: Int { joins.count }
    var updatesKept: Int { ring.count }
    var snapshotsKept: Int { cache.snapshots.count }

    /// Ends a turn: answers a bounded number of joins and chunk requests.
    mutating func serve(at now: Instant, time: Timestamp, into directives: inout [StoreDirective]) {
        hasAnsweredSchema = false
        var composed = 0
        for _ in 0..<limits.maxJoinsPerTurn where composed < limits.maxComposedPerTurn {
            guard let (request, hasWaited) = joins.dequeueJoin() else { break }
            answer(request, hasWaited: hasWaited, at: now, time: time, composed: &composed, into: &directives)
        }
        var bytes = 0
        while bytes < limits.maxChunkBytesPerTurn, let request = joins.dequeueChunk() {
            guard let chunk = cache.use(request.revision, at: now)?.chunk(request.index, chunkBytes: limits.chunkBytes)
            else {
                // The cache evicted it while the request waited.
                refuseChunk(request.topic, into: &directives)
                continue
            }
            bytes += chunk.count
            directives += [.count(.chunkPublished), .publish(request.topic, .chunk(Chunk(bytes: chunk)))]
        }
    }

    /// Adds the encoded snapshot of a revision.
    mutating func snapshotEncoded(_ bytes: [UInt8], revision: Revision, digest: UInt64, at now: Instant) {
        let snapshot = SnapshotCache.Snapshot(revision: revision, digest: digest, bytes: bytes, lastUsed: now)
        cache.add(snapshot, maxCount: limits.maxSnapshots)
        joins.snapshotEncoded()
    }

    /// Refuses the joins that wait for a snapshot: the state cannot be encoded.
    mutating func snapshotFailed(_ reason: Rejection, into directives: inout [StoreDirective]) {
        let refusal = Refusal(reason, retryAfter: limits.maxRetryDelay)
        for request in joins.snapshotFailed() { directives.append(.publish(request.topic, .refusal(refusal))) }
    }

    /// Answers a joiner with the updates after its position, or with a snapshot.
    private mutating func answer(
        _ request: JoinQueue.Request,
        hasWaited: Bool,
        at now: Instant,
        time: Timestamp,
        composed: inout Int,
        into directives: inout [StoreDirective]
    ) {
        if let position = request.position, isValid(position), isWorthwhile(from: position.revision),
            let catchUp = catchUp(from: position.revision, maxCount: limits.maxCatchUpComposed)
        {
            composed += catchUp.composed
            return welcome(request, offer: nil, catchUp: catchUp, time: time, into: &directives)
        }
        // A joiner that waited for a snapshot receives it even if many updates follow: otherwise it might never catch
        // up.
        let maxCount = hasWaited ? limits.maxRingUpdates : limits.maxCatchUpComposed
        guard let snapshot = cache.newest, hasWaited || isRecent(snapshot), !isAhead(request, of: snapshot),
            let catchUp = catchUp(from: snapshot.revision, maxCount: maxCount)
        else {
            if joins.awaitSnapshot(request) { directives.append(.encodeSnapshot) }
            return
        }
        composed += catchUp.composed
        _ = cache.use(snapshot.revision, at: now)
        let offer = Welcome.Offer(
            revision: snapshot.revision,
            bytes: snapshot.bytes.count,
            chunkBytes: limits.chunkBytes,
            digest: snapshot.digest
        )
        welcome(request, offer: offer, catchUp: catchUp, time: time, into: &directives)
    }

    /// The store's schema; without examples if they would exceed a frame.
    private func schema(sessions: Int) -> StoreSchema {
        let bytes = actions.reduce(0) { $0 + $1.name.utf8.count + ($1.example?.count ?? 0) + 8 }
        let fits = bytes + Limits.maxTopicBytes + 64 <= limits.maxFrameBytes
        let entries = fits ? actions : actions.map { StoreSchema.Entry(name: $0.name, example: nil) }
        return StoreSchema(
            lineage: incarnation.lineage,
            stateVersion: settings.stateVersion,
            actions: entries,
            epoch: incarnation.epoch,
            head: head,
            sessions: sessions,
            durability: settings.durability
        )
    }

    private func welcome(
        _ request: JoinQueue.Request,
        offer: Welcome.Offer?,
        catchUp: CatchUp,
        time: Timestamp,
        into directives: inout [StoreDirective]
    ) {
        let welcome = Welcome(
            lineage: incarnation.lineage,
            epoch: incarnation.epoch,
            head: head,
            time: time,
            stateVersion: settings.stateVersion,
            heartbeatInterval: limits.heartbeatInterval,
            offer: offer
        )
        directives += [.count(.joined), .publish(request.topic, .welcome(welcome))]
        for update in catchUp.updates { directives.append(.publish(request.topic, .update(update))) }
    }

    /// Whether the joiner is already ahead of the snapshot.
    private func isAhead(_ request: JoinQueue.Request, of snapshot: SnapshotCache.Snapshot) -> Bool {
        guard let position = request.position, isValid(position),
            ring.updates(from: position.revision, head: head) != nil
        else { return false }
        return position.revision > snapshot.revision
    }

    private func refuseChunk(_ topic: Topic, into directives: inout [StoreDirective]) {
        let reason = Rejection(.snapshotGone, "this snapshot is not kept, or has no such chunk; join again")
        directives += [.count(.refused(.snapshotGone)), .publish(topic, .refusal(Refusal(reason)))]
    }

    /// Whether this incarnation or a previous one of this lineage published the position.
    ///
    /// Revisions that an incarnation published beyond the start of the next one were lost with it, and have been reused
    /// for other changes.
    private func isValid(_ position: Position) -> Bool {
        guard position.lineage == incarnation.lineage else { return false }
        let end = position.epoch == incarnation.epoch ? head : epochs.end(of: position.epoch)
        return end.map { position.revision <= $0 } ?? false
    }

    private func catchUp(from revision: Revision, maxCount: Int) -> CatchUp? {
        guard let missing = ring.updates(from: revision, head: head), missing.count <= maxCount else { return nil }
        return CatchUp(missing, limits: limits)
    }

    /// Whether the updates since an older snapshot are few enough to offer it instead of encoding a new one. A replica
    /// that drops these updates continues from the snapshot's position, and must not get the same snapshot again.
    private func isRecent(_ snapshot: SnapshotCache.Snapshot) -> Bool {
        guard isWorthwhile(from: snapshot.revision),
            let bytes = ring.patchBytes(from: snapshot.revision, head: head)
        else { return false }
        return bytes <= max(snapshot.bytes.count / 2, 4096)
    }

    /// Whether the updates since a revision are smaller than a snapshot; a larger burst would also overrun the
    /// joiner's queue.
    private func isWorthwhile(from revision: Revision) -> Bool {
        guard let bytes = ring.patchBytes(from: revision, head: head) else { return false }
        return bytes <= max(summary.bytes, limits.chunkBytes)
    }
}
