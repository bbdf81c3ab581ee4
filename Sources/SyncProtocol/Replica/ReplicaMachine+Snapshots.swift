package import StateCore

extension ReplicaMachine {
    /// A snapshot that is being pulled, and what came meanwhile.
    struct Pull: Hashable, Sendable {
        /// Where the document will stand once the snapshot is installed.
        let target: Position
        var snapshot: SnapshotPull
        var deadline: Instant
        /// Updates that came meanwhile, in the order of their arrival; `nil` once they were too many.
        private(set) var backlog: [Update]? = []
        private var backlogBytes = 0

        init(target: Position, snapshot: SnapshotPull, deadline: Instant) {
            self.target = target
            self.snapshot = snapshot
            self.deadline = deadline
        }

        /// Keeps an update for later. Beyond the bound none is kept: the snapshot alone is still worth having.
        mutating func hold(_ update: Update, bytesMax: Int) {
            guard backlog != nil else { return }
            backlogBytes += update.patch.count + MemoryLayout<Update>.size
            if backlogBytes > bytesMax { backlog = nil } else { backlog?.append(update) }
        }
    }

    /// Begins to pull the snapshot that a welcome offers.
    mutating func pull(_ offer: Welcome.Offer, of welcome: Welcome, at now: Instant) -> [ReplicaDirective] {
        guard var snapshot = SnapshotPull(lineage: welcome.lineage, offer: offer, bytesMax: limits.snapshotBytesMax)
        else {
            let reason = Rejection(
                .incompatible,
                "a snapshot of 1 to \(limits.snapshotBytesMax) bytes in at most \(Limits.snapshotChunksMax) chunks was "
                    + "expected, one of \(offer.bytes) bytes in chunks of \(offer.chunkBytes) is offered"
            )
            return incompatible(reason, lineage: welcome.lineage, epoch: welcome.epoch)
        }
        let topics = snapshot.nextTopics(aheadMax: limits.chunksAheadMax)
        let target = Position(lineage: welcome.lineage, epoch: welcome.epoch, revision: offer.revision)
        let deadline = now.advanced(by: limits.retryDelayMax)
        phase = .pulling(Pull(target: target, snapshot: snapshot, deadline: deadline))
        return topics.map { .subscribe($0) }
    }

    mutating func received(
        _ chunk: Chunk,
        index: UInt32,
        on topic: Topic,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        guard case .pulling(var pull) = phase, pull.snapshot.isOf(topic), pull.snapshot.received(chunk, index: index)
        else { return [] }
        pull.deadline = now.advanced(by: limits.retryDelayMax)
        var directives: [ReplicaDirective] = [.unsubscribe(topic)]
        directives += pull.snapshot.nextTopics(aheadMax: limits.chunksAheadMax).map { .subscribe($0) }
        phase = .pulling(pull)
        guard pull.snapshot.isComplete else { return directives }
        return directives + install(pull, at: now, using: &generator)
    }

    /// The snapshot is complete: show it, then what was held back meanwhile. Where that became too much the snapshot
    /// is shown all the same, and the join goes on from it.
    private mutating func install(
        _ pull: Pull,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        var directives: [ReplicaDirective] = []
        if let position, position.lineage == pull.target.lineage, position.revision > pull.target.revision {
            directives.append(.count(.rewound))
        }
        directives += [
            .count(.snapshot(bytes: pull.snapshot.offer.bytes)),
            .install(snapshot: pull.snapshot.bytes, pull.target, digest: pull.snapshot.offer.digest),
        ]
        position = pull.target
        snapshotRevision = pull.target.revision
        phase = .following
        guard let backlog = pull.backlog else {
            return directives + [.count(.backlogOverflow)] + rejoin(after: .zero, at: now, using: &generator)
        }
        for update in backlog {
            guard case .following = phase else { return directives }
            directives += received(.update(update), on: .feed, at: now, using: &generator)
        }
        return directives + leaveJoinIfCaughtUp()
    }

    // MARK: The document's answers

    /// The document could not take what it was given at a position, or its digest there is another than the primary's.
    ///
    /// It heals by starting from nothing, once. If that fails directly behind a snapshot, or again before a digest was
    /// right, there is nothing to heal: the types differ.
    package mutating func failed(
        at failed: Position,
        _ reason: Rejection,
        now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        // Of another lineage there is a snapshot on its way, which makes up for whatever failed.
        guard let position, position.lineage == failed.lineage else { return [] }
        healsUnconfirmed += 1
        let isAtSnapshot = failed.epoch == position.epoch && failed.revision == snapshotRevision
        if isAtSnapshot || healsUnconfirmed > 1 {
            healsUnconfirmed = 0
            return [.count(.diverged)] + incompatible(reason, lineage: failed.lineage, epoch: failed.epoch)
        }
        return [.count(.diverged)] + rejoin(fromNothing: true, after: .zero, at: now, using: &generator)
    }

    /// The document has the primary's digest.
    package mutating func confirmed(at position: Position) {
        healsUnconfirmed = 0
    }

    private mutating func incompatible(_ reason: Rejection, lineage: Lineage, epoch: Epoch) -> [ReplicaDirective] {
        let directives = leavePull() + leaveJoin()
        position = nil
        phase = .incompatible(lineage: lineage, epoch: epoch)
        return directives + changed(to: .incompatible(reason))
    }
}
