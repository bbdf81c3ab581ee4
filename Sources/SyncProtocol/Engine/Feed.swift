import DequeModule
import StateCoding
import StateCore

/// What a store publishes to replicas: its head, the last updates, snapshots for joiners, and heartbeats.
///
/// Joins, chunks and schema requests are answered a bounded number at a time, at the end of a turn.
struct Feed: Hashable, Sendable {
    let lineage: Lineage
    let epoch: Epoch
    private let limits: Limits
    private let stateVersion: UInt64
    private let actions: [StoreSchema.Entry]
    /// The durability of acknowledged actions, as the primary's settings name it; `nil` without a journal.
    private let durability: String?
    /// The starts of the previous incarnations.
    private let epochs: EpochTable
    /// Whether the shell can read updates from the journal that are no longer in memory.
    private let readsPast: Bool

    /// The last published revision, which replicas may have.
    private(set) var head: Revision
    /// The digest and size of the state at the head.
    private var summary: Summary
    private var ring: UpdateRing
    private var joins = JoinQueue()
    private var heartbeatDue: Instant
    private var hasAnsweredSchema = false

    init(_ history: History, _ settings: StoreSettings, actions: [StoreSchema.Entry], now: Instant) {
        lineage = history.lineage
        epoch = history.epoch
        epochs = history.epochs
        limits = settings.limits
        stateVersion = settings.stateVersion
        self.actions = actions
        durability = settings.durability
        readsPast = settings.commitment != .none
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
        min(heartbeatDue, joins.cache.nextExpiry(retention: limits.snapshotRetention) ?? heartbeatDue)
    }

    /// Makes a heartbeat when it is due. `time` is the wall clock.
    mutating func tick(at now: Instant, time: Timestamp) -> Heartbeat? {
        joins.cache.expire(at: now, retention: limits.snapshotRetention)
        guard now >= heartbeatDue else { return nil }
        heartbeatDue = now.advanced(by: limits.heartbeatInterval)
        return Heartbeat(lineage: lineage, epoch: epoch, head: head, digest: summary.digest, time: time)
    }

    // MARK: Requests

    /// Handles a subscription to the schema.
    mutating func schemaRequested(sessions: Int) -> [PlainDirective] {
        guard !hasAnsweredSchema else { return [] }
        hasAnsweredSchema = true
        return [.publish(.schema, .schema(schema(sessions: sessions)))]
    }

    /// Handles a subscription to a join.
    mutating func joinRequested(_ request: JoinQueue.Request) -> [PlainDirective] {
        guard joins.count < limits.joinsWaitingMax else {
            let reason = Rejection(.busy, "\(limits.joinsWaitingMax) joins are waiting already; try again")
            return [
                .count(.refused(.busy)),
                .publish(request.topic, .refusal(Refusal(reason, retryAfter: limits.retryDelayMin))),
            ]
        }
        joins.enqueue(request)
        return []
    }

    /// Handles a subscription to a chunk of a snapshot.
    mutating func chunkRequested(_ request: JoinQueue.ChunkRequest) -> [PlainDirective] {
        guard request.lineage == lineage,
            let snapshot = joins.cache.snapshots.first(where: { $0.revision == request.revision }),
            snapshot.chunk(request.index, chunkBytes: limits.chunkBytes) != nil
        else {
            return Self.gone(request.topic)
        }
        joins.enqueue(request)
        return []
    }

    /// The last subscriber of a join is gone.
    mutating func joinAbandoned(_ request: JoinQueue.Request) -> [PlainDirective] {
        joins.remove(request) ? [.count(.joinAbandoned)] : []
    }

    /// The last subscriber of a chunk is gone.
    mutating func chunkAbandoned(_ request: JoinQueue.ChunkRequest) { joins.remove(request) }

    /// Whether `serve` has work.
    var hasRequests: Bool { !joins.isEmpty || hasAnsweredSchema }

    /// The number of queued joins.
    var joinsWaiting: Int { joins.count }

    /// Ends a turn: answers a bounded number of joins and chunk requests.
    mutating func serve(at now: Instant, time: Timestamp) -> [PlainDirective] {
        hasAnsweredSchema = false
        var directives: [PlainDirective] = []
        var composed = 0
        while composed < limits.composedPerTurnMax, let read = joins.catchUps.dequeue() {
            directives += answer(read, at: now, time: time, composed: &composed)
        }
        for _ in 0..<limits.joinsPerTurnMax where composed < limits.composedPerTurnMax {
            guard let (request, hasWaited) = joins.dequeueJoin() else { break }
            directives += answer(request, hasWaited: hasWaited, at: now, time: time, composed: &composed)
        }
        var bytes = 0
        while bytes < limits.chunkBytesPerTurnMax, let request = joins.dequeueChunk() {
            guard
                let chunk = joins.cache.use(request.revision, at: now)?
                    .chunk(request.index, chunkBytes: limits.chunkBytes)
            else {
                // The cache evicted it while the request waited.
                directives += Self.gone(request.topic)
                continue
            }
            bytes += chunk.count
            directives += [.count(.chunkPublished), .publish(request.topic, .chunk(Chunk(bytes: chunk)))]
        }
        return directives
    }

    /// Adds the encoded snapshot of a revision.
    mutating func snapshotEncoded(_ bytes: [UInt8], revision: Revision, digest: UInt64, at now: Instant) {
        let snapshot = SnapshotCache.Snapshot(revision: revision, digest: digest, bytes: bytes, lastUsed: now)
        joins.cache.add(snapshot, countMax: limits.snapshotsMax)
        joins.snapshotEncoded()
    }

    /// Refuses the joins that wait for a snapshot: the state cannot be encoded.
    mutating func snapshotFailed(_ reason: Rejection) -> [PlainDirective] {
        joins.snapshotFailed().map { .publish($0.topic, .refusal(Refusal(reason, retryAfter: limits.retryDelayMax))) }
    }

    private mutating func answer(
        _ request: JoinQueue.Request,
        hasWaited: Bool,
        at now: Instant,
        time: Timestamp,
        composed: inout Int
    ) -> [PlainDirective] {
        if let position = request.position, isValid(position), isWorthwhile(from: position.revision),
            let catchUp = catchUp(from: position.revision, countMax: limits.catchUpComposedMax)
        {
            composed += catchUp.composed
            return welcome(request, offer: nil, catchUp: catchUp, time: time)
        }
        if !hasWaited, let past = readPast(for: request) { return past }
        return offer(request, hasWaited: hasWaited, at: now, time: time, composed: &composed)
    }

    /// Offers a snapshot to a joiner.
    private mutating func offer(
        _ request: JoinQueue.Request,
        hasWaited: Bool,
        at now: Instant,
        time: Timestamp,
        composed: inout Int
    ) -> [PlainDirective] {
        // A joiner that waited for a snapshot receives it even if many updates follow: otherwise it might never catch
        // up.
        let countMax = hasWaited ? limits.ringUpdatesMax : limits.catchUpComposedMax
        guard let snapshot = joins.cache.newest, hasWaited || isRecent(snapshot), !wouldRewind(request, to: snapshot),
            let catchUp = catchUp(from: snapshot.revision, countMax: countMax)
        else { return joins.awaitSnapshot(request) ? [.encodeSnapshot] : [] }
        composed += catchUp.composed
        _ = joins.cache.use(snapshot.revision, at: now)
        let offer = Welcome.Offer(
            revision: snapshot.revision,
            bytes: snapshot.bytes.count,
            chunkBytes: limits.chunkBytes,
            digest: snapshot.digest
        )
        return welcome(request, offer: offer, catchUp: catchUp, time: time)
    }

    /// The store's schema; without examples if they would exceed a frame.
    private func schema(sessions: Int) -> StoreSchema {
        let bytes = actions.reduce(0) { $0 + $1.name.utf8.count + ($1.example?.count ?? 0) + 8 }
        let fits = bytes + Limits.topicBytesMax + 64 <= limits.frameBytesMax
        let entries = fits ? actions : actions.map { StoreSchema.Entry(name: $0.name, example: nil) }
        return StoreSchema(
            lineage: lineage,
            stateVersion: stateVersion,
            actions: entries,
            epoch: epoch,
            head: head,
            sessions: sessions,
            durability: durability
        )
    }

    private func welcome(
        _ request: JoinQueue.Request,
        offer: Welcome.Offer?,
        catchUp: CatchUp,
        time: Timestamp
    ) -> [PlainDirective] {
        let welcome = Welcome(
            lineage: lineage,
            epoch: epoch,
            head: head,
            time: time,
            stateVersion: stateVersion,
            heartbeatInterval: limits.heartbeatInterval,
            offer: offer
        )
        return [.count(.joined), .publish(request.topic, .welcome(welcome))]
            + catchUp.updates.map { .publish(request.topic, .update($0)) }
    }

    /// Whether the joiner is already ahead of the snapshot.
    private func wouldRewind(_ request: JoinQueue.Request, to snapshot: SnapshotCache.Snapshot) -> Bool {
        guard let position = request.position, isValid(position),
            ring.updates(from: position.revision, head: head) != nil
        else { return false }
        return position.revision > snapshot.revision
    }

    private static func gone(_ topic: Topic) -> [PlainDirective] {
        let reason = Rejection(.snapshotGone, "this snapshot is not kept, or has no such chunk; join again")
        return [.count(.refused(.snapshotGone)), .publish(topic, .refusal(Refusal(reason)))]
    }

    /// Whether this incarnation or a previous one of this lineage published the position.
    ///
    /// Revisions that an incarnation published beyond the start of the next one were lost with it, and have been reused
    /// for other changes.
    private func isValid(_ position: Position) -> Bool {
        guard position.lineage == lineage else { return false }
        guard let end = position.epoch == epoch ? head : epochs.end(of: position.epoch) else { return false }
        return position.revision <= end
    }

    private func catchUp(from revision: Revision, countMax: Int) -> CatchUp? {
        guard let missing = ring.updates(from: revision, head: head), missing.count <= countMax else { return nil }
        return CatchUp(missing, limits: limits)
    }

    /// Whether the updates since an older snapshot are few enough to offer it instead of encoding a new one.
    private func isRecent(_ snapshot: SnapshotCache.Snapshot) -> Bool {
        guard let bytes = ring.patchBytes(from: snapshot.revision, head: head) else { return false }
        return bytes <= max(snapshot.bytes.count / 2, 4096)
    }

    /// Whether the updates since a revision are smaller than a snapshot; a larger burst would also overrun the
    /// joiner's queue.
    private func isWorthwhile(from revision: Revision) -> Bool {
        guard let bytes = ring.patchBytes(from: revision, head: head) else { return false }
        return bytes <= max(summary.bytes, limits.chunkBytes)
    }

    // MARK: Updates from the journal

    /// Handles the result of a `readPast`, with updates in the name of this incarnation; `nil` if they exceed the
    /// limits or are no longer kept.
    mutating func pastRead(_ updates: [Update]?, after revision: Revision) {
        joins.catchUps.finish(updates, after: revision)
    }

    /// Queues a joiner for a read of the journal; `nil` if it has to start from a snapshot, because the journal does
    /// not help it or a read for another revision is in progress.
    private mutating func readPast(for request: JoinQueue.Request) -> [PlainDirective]? {
        let end = ring.start ?? head
        guard readsPast, let position = request.position, isValid(position), position.revision < end else { return nil }
        switch joins.catchUps.enqueue(request, after: position.revision) {
        case .read:
            let bytesMax = max(summary.bytes, limits.chunkBytes)
            return [.readPast(after: position.revision, through: end, bytesMax: bytesMax)]
        case .wait: return []
        case .busy: return nil
        }
    }

    /// Answers a joiner with the updates from the journal and from memory; with a snapshot, if these do not chain.
    private mutating func answer(
        _ read: CatchUpQueue.Read,
        at now: Instant,
        time: Timestamp,
        composed: inout Int
    ) -> [PlainDirective] {
        guard let past = read.updates, let end = past.last?.to, let recent = ring.updates(from: end, head: head),
            past.count + recent.count <= limits.catchUpComposedMax
        else { return offer(read.request, hasWaited: false, at: now, time: time, composed: &composed) }
        let missing = Deque(past) + recent
        let catchUp = CatchUp(missing[...], limits: limits)
        composed += catchUp.composed
        return welcome(read.request, offer: nil, catchUp: catchUp, time: time)
    }
}
