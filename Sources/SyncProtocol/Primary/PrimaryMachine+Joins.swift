internal import StateCoding
package import StateCore

extension PrimaryMachine {
    /// Somebody asks for something by subscribing to it.
    package mutating func subscribed(to topic: Topic) -> [PrimaryDirective] {
        switch topic {
        case .feed, .actions: return []
        case .schema:
            return answeredTopics.insert(topic).inserted ? [.publish(.schema, .schema(schema))] : []
        case .receipts(let session): return answeredTopics.insert(topic).inserted ? watermark(of: session) : []
        case .join(let nonce, let position):
            guard desk.count < limits.joinsWaitingMax else {
                let reason = Rejection(.busy, "\(limits.joinsWaitingMax) joins are waiting already; try again")
                return [
                    .count(.refused(.busy)),
                    .publish(topic, .refusal(Refusal(reason, retryAfter: limits.retryDelayMin))),
                ]
            }
            desk.enqueue(JoinDesk.Request(nonce: nonce, position: position))
            return []
        case .snapshot(let lineage, let revision, let index):
            guard lineage == self.lineage,
                let snapshot = desk.shelf.snapshots.first(where: { $0.revision == revision }),
                snapshot.chunk(index, chunkBytes: limits.chunkBytes) != nil
            else {
                return Self.gone(topic)
            }
            desk.enqueue(JoinDesk.ChunkRequest(lineage: lineage, revision: revision, index: index))
            return []
        }
    }

    /// The last one who asked for it has gone.
    package mutating func unsubscribed(from topic: Topic) -> [PrimaryDirective] {
        switch topic {
        case .join(let nonce, let position):
            return desk.leave(JoinDesk.Request(nonce: nonce, position: position)) ? [.count(.joinAbandoned)] : []
        case .snapshot(let lineage, let revision, let index):
            desk.leave(JoinDesk.ChunkRequest(lineage: lineage, revision: revision, index: index))
            return []
        default: return []
        }
    }

    /// Whether `serve` has something to do: requests to answer, or to note that the turn is over.
    package var hasRequests: Bool { !desk.isEmpty || !answered.isEmpty || !answeredTopics.isEmpty }

    /// The joins that wait: for their turn, or for a snapshot.
    package var joinsWaitingCount: Int { desk.count }

    /// Ends a turn: answers joins and chunk requests, a bounded number of each.
    package mutating func serve(at now: Instant, time: Timestamp) -> [PrimaryDirective] {
        answered.removeAll(keepingCapacity: true)
        answeredTopics.removeAll(keepingCapacity: true)
        var directives: [PrimaryDirective] = []
        var composed = 0
        while composed < limits.composedPerTurnMax, let arrival = desk.past.next() {
            directives += answer(arrival, at: now, time: time, composed: &composed)
        }
        for _ in 0..<limits.joinsPerTurnMax where composed < limits.composedPerTurnMax {
            guard let (request, hasWaited) = desk.nextJoin() else { break }
            directives += answer(request, hasWaited: hasWaited, at: now, time: time, composed: &composed)
        }
        var bytes = 0
        while bytes < limits.chunkBytesPerTurnMax, let request = desk.nextChunk() {
            guard
                let chunk = desk.shelf.use(request.revision, at: now)?
                    .chunk(request.index, chunkBytes: limits.chunkBytes)
            else {
                // It went while the request waited for its turn.
                directives += Self.gone(request.topic)
                continue
            }
            bytes += chunk.count
            directives += [.count(.chunkPublished), .publish(request.topic, .chunk(Chunk(bytes: chunk)))]
        }
        return directives
    }

    /// The snapshot of a revision is encoded.
    package mutating func snapshotEncoded(_ bytes: [UInt8], revision: Revision, digest: UInt64, at now: Instant) {
        let snapshot = SnapshotShelf.Snapshot(revision: revision, digest: digest, bytes: bytes, lastUsed: now)
        desk.shelf.add(snapshot, countMax: limits.snapshotsMax)
        desk.snapshotArrived()
    }

    /// The state cannot be encoded: those who wait for it are told so.
    package mutating func snapshotFailed(_ reason: Rejection) -> [PrimaryDirective] {
        desk.snapshotFailed().map { .publish($0.topic, .refusal(Refusal(reason, retryAfter: limits.retryDelayMax))) }
    }

    private mutating func answer(
        _ request: JoinDesk.Request,
        hasWaited: Bool,
        at now: Instant,
        time: Timestamp,
        composed: inout Int
    ) -> [PrimaryDirective] {
        if let position = request.position, isValid(position), isWorthwhile(from: position.revision),
            let catchUp = catchUp(from: position.revision, countMax: limits.catchUpComposedMax)
        {
            composed += catchUp.composed
            return welcome(request, offer: nil, catchUp: catchUp, time: time)
        }
        if !hasWaited, let past = readPast(for: request) { return past }
        return offer(request, hasWaited: hasWaited, at: now, time: time, composed: &composed)
    }

    /// Lets a joiner start from a snapshot.
    mutating func offer(
        _ request: JoinDesk.Request,
        hasWaited: Bool,
        at now: Instant,
        time: Timestamp,
        composed: inout Int
    ) -> [PrimaryDirective] {
        // Who has waited for a snapshot gets that one at any cost: the next might be outrun in the same way.
        let countMax = hasWaited ? limits.ringUpdatesMax : limits.catchUpComposedMax
        guard let snapshot = desk.shelf.newest, hasWaited || isRecent(snapshot), !wouldRewind(request, to: snapshot),
            let catchUp = catchUp(from: snapshot.revision, countMax: countMax)
        else { return desk.awaitSnapshot(request) ? [.encodeSnapshot] : [] }
        composed += catchUp.composed
        _ = desk.shelf.use(snapshot.revision, at: now)
        let offer = Welcome.Offer(
            revision: snapshot.revision,
            bytes: snapshot.bytes.count,
            chunkBytes: limits.chunkBytes,
            digest: snapshot.digest
        )
        return welcome(request, offer: offer, catchUp: catchUp, time: time)
    }

    /// What the store says of itself; without examples where they would not fit into a frame.
    private var schema: StoreSchema {
        let bytes = actions.reduce(0) { $0 + $1.name.utf8.count + ($1.example?.count ?? 0) + 8 }
        let fits = bytes + Limits.topicBytesMax + 64 <= limits.frameBytesMax
        let entries = fits ? actions : actions.map { StoreSchema.Entry(name: $0.name, example: nil) }
        return StoreSchema(
            lineage: lineage,
            fingerprint: fingerprint,
            actions: entries,
            epoch: epoch,
            head: head,
            sessions: sessions.count,
            durability: durability
        )
    }

    func welcome(
        _ request: JoinDesk.Request,
        offer: Welcome.Offer?,
        catchUp: CatchUp,
        time: Timestamp
    ) -> [PrimaryDirective] {
        let welcome = Welcome(
            lineage: lineage,
            epoch: epoch,
            head: head,
            time: time,
            fingerprint: fingerprint,
            heartbeatInterval: limits.heartbeatInterval,
            offer: offer
        )
        return [.count(.joined), .publish(request.topic, .welcome(welcome))]
            + catchUp.updates.map { .publish(request.topic, .update($0)) }
    }

    /// Whether a joiner already has more than the snapshot holds.
    private func wouldRewind(_ request: JoinDesk.Request, to snapshot: SnapshotShelf.Snapshot) -> Bool {
        guard let position = request.position, isValid(position),
            ring.updates(from: position.revision, head: head) != nil
        else { return false }
        return position.revision > snapshot.revision
    }

    private static func gone(_ topic: Topic) -> [PrimaryDirective] {
        let reason = Rejection(.snapshotGone, "this snapshot is not kept, or has no such chunk; join again")
        return [.count(.refused(.snapshotGone)), .publish(topic, .refusal(Refusal(reason)))]
    }

    /// A position of this lineage that lies in what this primary, or one before it, has published.
    ///
    /// What an incarnation published beyond the start of the next one was lost with it: these revisions are others now.
    func isValid(_ position: Position) -> Bool {
        guard position.lineage == lineage else { return false }
        guard let end = position.epoch == epoch ? head : epochs.end(of: position.epoch) else { return false }
        return position.revision <= end
    }

    private func catchUp(from revision: Revision, countMax: Int) -> CatchUp? {
        guard let missing = ring.updates(from: revision, head: head), missing.count <= countMax else { return nil }
        return CatchUp(missing, limits: limits)
    }

    /// Whether the updates since an older snapshot are few enough to hand it out, instead of encoding a new one.
    private func isRecent(_ snapshot: SnapshotShelf.Snapshot) -> Bool {
        guard let bytes = ring.patchBytes(from: snapshot.revision, head: head) else { return false }
        return bytes <= max(snapshot.bytes.count / 2, 4096)
    }

    /// Whether the updates since a revision are fewer bytes than a snapshot; a burst of them would also overrun the
    /// joiner's queue.
    private func isWorthwhile(from revision: Revision) -> Bool {
        guard let bytes = ring.patchBytes(from: revision, head: head) else { return false }
        return bytes <= max(summary.bytes, limits.chunkBytes)
    }
}
