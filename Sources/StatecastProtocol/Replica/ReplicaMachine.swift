package import StatecastCore

/// The state machine of a replica of one store. It decides when to join, what to apply, and when to start over.
///
/// It sees positions, never the state: the shell applies patches and reports those that do not fit. It relies on two
/// facts: a replica communicates by its subscriptions alone, and the pipe from the primary is ordered.
package struct ReplicaMachine: Hashable, Sendable {
    /// The phase of the replica, with its exits.
    private enum Phase: Hashable, Sendable {
        /// Waits before it joins (again). Exits to `joining` at `until`.
        case waiting(until: Instant)
        /// Has sent a join. Exits to `pulling` or `following` with the welcome; joins again at `deadline`.
        case joining(deadline: Instant)
        /// Pulls a snapshot and buffers updates. Exits to `following` when the snapshot is complete, to `waiting` when
        /// it is not available.
        case pulling(Pull)
        /// Applies updates in order. Exits to `waiting` on a gap or another history.
        case following
        /// The published data did not fit. Exits to `waiting` when another primary answers.
        case incompatible(lineage: Lineage, epoch: Epoch)
    }

    /// The start of a new join.
    private enum JoinStart {
        /// The current position, if there is one.
        case position
        /// A snapshot, whatever the replica has.
        case nothing
    }

    /// A pending join: subscribed until the position reaches the head of its welcome.
    private struct Join: Hashable, Sendable {
        let topic: Topic
        /// From the welcome.
        var head: Revision?
    }

    package let limits: Limits
    private var phase: Phase
    private var join: Join?
    /// The position of the document after all directives; `nil` before the first snapshot.
    package private(set) var position: Position?
    /// The last position from which it started from nothing, while the document still shows it.
    private var abandonedPosition: Position?
    /// The last incarnation of the primary that was heard from. Messages of an earlier one of its history are ignored:
    /// of a node that led before, and does not know yet that another one leads.
    private var newest: Incarnation?
    /// The revision of the document's snapshot.
    private var snapshotRevision: Revision?
    /// The number of restarts from nothing since the digest was last confirmed.
    private var unverifiedResyncs = 0
    private var backoff: Backoff
    private var status = ReplicaStatus.joining
    private var heartbeatInterval: Duration
    private var lastHeard: Instant
    private var connection: ConnectionWatch
    /// The number of joins without an answer since the last one, although other messages of the primary arrived.
    private var unansweredJoins = 0
    /// Whether a message of the primary arrived since the last join.
    private var hasHeard = false
    private var announcement: Announcement

    /// - Parameters:
    ///   - name: under which it announces itself; `nil`: it does not.
    ///   - nonce: identifies it among replicas of one name.
    package init(limits: Limits, name: PeerName? = nil, nonce: Nonce = Nonce(bits: 0), now: Instant) {
        self.limits = limits
        announcement = Announcement(name, nonce, now: now)
        phase = .waiting(until: now)
        backoff = Backoff(limits)
        heartbeatInterval = max(limits.heartbeatInterval, .milliseconds(1))
        lastHeard = now
        connection = ConnectionWatch(at: now)
    }

    /// Starts: subscribes to the feed, then joins.
    package mutating func start(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        [.status(.joining), .subscribe(.feed)] + announcement.update(nil, at: now)
            + sendJoin(at: now, using: &generator)
    }

    // MARK: Time

    /// The time of the next `tick`.
    package var nextDeadline: Instant {
        let phaseDeadline = Self.earlier(phaseDeadline, announcement.deadline(position))
        guard let next = Self.earlier(phaseDeadline, connectionDeadline) else {
            preconditionFailure("the replica waits without a deadline")
        }
        return next
    }

    private static func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    private var phaseDeadline: Instant? {
        switch phase {
        case .waiting(let until): until
        case .joining(let deadline): deadline
        case .pulling(let pull): pull.deadline
        case .following: status == .stale ? nil : lastHeard.advanced(by: staleAfter)
        case .incompatible: nil
        }
    }

    /// The time at which the silence of the connection is judged; `nil` while nothing is requested. A working
    /// connection brings the heartbeats of the feed, however slow a join is.
    private var connectionDeadline: Instant? {
        if case .waiting = phase { nil } else { connection.deadline(maxSilence: staleAfter, limits) }
    }

    /// The names of the phases.
    package enum PhaseName: String, CaseIterable, Sendable { case waiting, joining, pulling, following, incompatible }

    // Swift 6.3's optimizer crashes where it inlines the property into some callers.
    @inline(never)
    package var phaseName: PhaseName {
        switch phase {
        case .waiting: .waiting
        case .joining: .joining
        case .pulling: .pulling
        case .following: .following
        case .incompatible: .incompatible
        }
    }

    /// The memory of the updates that are buffered.
    package var backlogBytes: Int { if case .pulling(let pull) = phase { pull.backlogBytes } else { 0 } }

    private var staleAfter: Duration { heartbeatInterval * (limits.maxMissedHeartbeats + 1) }

    /// Handles a deadline. Call it after handling the messages that arrived, so that a process that was suspended
    /// first handles the messages that it missed.
    package mutating func tick(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        if connectionDeadline != nil, connection.tick(at: now, maxSilence: staleAfter, limits, using: &generator) {
            return reconnect(at: now, using: &generator)
        }
        let announced = announcement.update(position, at: now)
        guard let phaseDeadline, now >= phaseDeadline else { return announced }
        return announced + phaseTick(at: now, using: &generator)
    }

    private mutating func phaseTick(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        switch phase {
        case .waiting: return sendJoin(at: now, using: &generator)
        case .joining:
            if hasHeard { unansweredJoins += 1 }
            // A connection that brings heartbeats may carry no requests.
            return unansweredJoins / 8 < limits.maxUnansweredRequests
                ? leaveJoin() + sendJoin(at: now, using: &generator) : reconnect(at: now, using: &generator)
        case .pulling: return rejoin(after: backoff.next(using: &generator), at: now, using: &generator)
        case .following: return changed(to: .stale)
        case .incompatible: return []
        }
    }

    /// A message arrived that cannot be read, or messages wait and are not read yet.
    package mutating func heard(at now: Instant) { connection.heard(at: now) }

    /// Joins on a new connection, without changing the status: nothing is known of the primary.
    package mutating func reconnect(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        (join, unansweredJoins) = (nil, 0)
        announcement.reconnected(at: now)
        let directives =
            [.count(.reconnecting), .reconnect, .subscribe(.feed)] + announcement.update(position, at: now)
        if case .incompatible = phase { return directives }
        return directives + sendJoin(at: now, using: &generator)
    }

    // MARK: Joining

    private mutating func sendJoin(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        if case .waiting = phase { connection.startWaiting(at: now) }
        let topic = Topic.join(Nonce(using: &generator), position)
        join = Join(topic: topic)
        hasHeard = false
        phase = .joining(deadline: now.advanced(by: backoff.next(using: &generator)))
        return [.count(.joining), .subscribe(topic)]
    }

    /// Abandons the join or pull in progress, and joins again after a delay.
    private mutating func rejoin(
        from start: JoinStart = .position,
        after delay: Duration,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        var directives = leavePull() + leaveJoin()
        if start == .nothing { abandonPosition() }
        phase = .waiting(until: now.advanced(by: delay))
        directives += changed(to: .joining)
        return delay == .zero ? directives + sendJoin(at: now, using: &generator) : directives
    }

    private mutating func abandonPosition() { (position, abandonedPosition) = (nil, position ?? abandonedPosition) }

    private func leavePull() -> [ReplicaDirective] {
        guard case .pulling(let pull) = phase else { return [] }
        return pull.snapshot.outstanding.sorted().map { .unsubscribe(pull.snapshot.topic($0)) }
    }

    private mutating func leaveJoin() -> [ReplicaDirective] {
        defer { join = nil }
        return join.map { [.unsubscribe($0.topic)] } ?? []
    }

    private mutating func changed(to status: ReplicaStatus) -> [ReplicaDirective] {
        // A refusal stays visible while the replica retries.
        if case .refused = self.status, status == .joining { return [] }
        guard status != self.status else { return [] }
        self.status = status
        return [.status(status)]
    }

    // MARK: Messages

    /// Handles a message of the store.
    package mutating func received(
        _ frame: Frame,
        on topic: Topic,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        if let incarnation = frame.incarnation {
            if let newest, incarnation.lineage == newest.lineage, incarnation.epoch < newest.epoch { return [] }
            newest = incarnation
        }
        heard(at: now)
        hasHeard = true
        var directives: [ReplicaDirective]
        switch (topic, frame) {
        case (.feed, .update(let update)):
            directives = received(update, at: now, using: &generator)
        case (.feed, .heartbeat(let heartbeat)):
            directives = received(heartbeat, at: now, using: &generator)
        case (.join, _) where topic == join?.topic:
            directives = received(answer: frame, at: now, using: &generator)
        case (.snapshot(_, _, let index), .chunk(let chunk)):
            directives = received(chunk, index: index, on: topic, at: now, using: &generator)
        case (.snapshot, .refusal):
            guard case .pulling(let pull) = phase, pull.snapshot.isOf(topic) else { return [] }
            let delay = backoff.next(using: &generator)
            directives = rejoin(from: .nothing, after: delay, at: now, using: &generator)
        default: return []
        }
        lastHeard = now
        if case .following = phase, join == nil {
            backoff.reset()
            directives += changed(to: .live)
        }
        return directives
    }

    /// Handles a message on the topic of the pending join.
    private mutating func received(
        answer frame: Frame,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        unansweredJoins = 0
        switch (phase, frame) {
        case (.joining, .welcome(let welcome)): return received(welcome, at: now, using: &generator)
        case (.joining, .refusal(let refusal)): return refused(refusal, at: now, using: &generator)
        case (_, .update(let update)): return received(update, at: now, using: &generator)
        default: return []
        }
    }

    private mutating func received(
        _ welcome: Welcome,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        heartbeatInterval = max(welcome.heartbeatInterval, .milliseconds(1))
        join?.head = welcome.head
        if let offer = welcome.offer {
            return [.time(welcome.time)] + pull(offer, of: welcome, at: now)
        }
        guard let position, position.lineage == welcome.lineage, position.revision <= welcome.head else {
            // Only a faulty primary answers like this: no updates lead from here to its head.
            let delay = backoff.next(using: &generator)
            return rejoin(from: .nothing, after: delay, at: now, using: &generator)
        }
        self.position = Position(lineage: welcome.lineage, epoch: welcome.epoch, revision: position.revision)
        phase = .following
        return [.time(welcome.time)] + leaveJoinIfCaughtUp()
    }

    private mutating func received(
        _ update: Update,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        guard let known = followed else { return [] }
        guard update.lineage == known.lineage, update.epoch == known.epoch else {
            return joinOther(at: now, using: &generator)
        }
        switch phase {
        case .pulling(var pull):
            pull.buffer(update, maxBytes: limits.maxBacklogBytes)
            phase = .pulling(pull)
            return []
        case .following:
            if update.to <= known.revision { return [] }
            guard update.from == known.revision else { return gap(at: now, using: &generator) }
            let next = Position(lineage: known.lineage, epoch: update.epoch, revision: update.to)
            position = next
            return [.apply(patch: update.patch, next)] + leaveJoinIfCaughtUp()
        case .incompatible, .waiting, .joining: return []
        }
    }

    private mutating func received(
        _ heartbeat: Heartbeat,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        guard let known = followed else { return [.time(heartbeat.time)] }
        guard heartbeat.lineage == known.lineage, heartbeat.epoch == known.epoch else {
            return joinOther(at: now, using: &generator)
        }
        guard case .following = phase else { return [.time(heartbeat.time)] }
        if heartbeat.head != known.revision { return [.time(heartbeat.time)] + gap(at: now, using: &generator) }
        if let head = join?.head, head > heartbeat.head {
            return [.time(heartbeat.time)] + unreachable(head, heartbeat, at: now, using: &generator)
        }
        return [.time(heartbeat.time), .verify(known, digest: heartbeat.digest)]
    }

    private mutating func refused(
        _ refusal: Refusal,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        let delay = backoff.next(using: &generator) + (refusal.retryAfter ?? .zero)
        let directives = [.count(.refused(refusal.reason.code))] + rejoin(after: delay, at: now, using: &generator)
        return refusal.retryAfter == nil ? directives + changed(to: .refused(refusal.reason)) : directives
    }

    /// The history whose frames apply now; `nil` while a join is pending. Frames before its welcome precede the
    /// welcome's head, because the pipe is ordered.
    private var followed: Position? {
        switch phase {
        case .following: position
        case .pulling(let pull): pull.target
        case .incompatible(let lineage, let epoch): Position(lineage: lineage, epoch: epoch, revision: Revision(0))
        case .waiting, .joining: nil
        }
    }

    /// Handles a frame of another incarnation than the followed one: joins again.
    private mutating func joinOther(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        let jitter = Duration.random(upTo: limits.maxGapJitter, using: &generator)
        return rejoin(after: jitter, at: now, using: &generator)
    }

    private mutating func gap(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        let jitter = Duration.random(upTo: limits.maxGapJitter, using: &generator)
        return [.count(.gap)] + rejoin(after: jitter, at: now, using: &generator)
    }

    /// Handles a heartbeat whose head is below that of the welcome. A heartbeat of a connection that was replaced may
    /// be read after the welcome; a primary that does it again before it was live is faulty.
    private mutating func unreachable(
        _ head: Revision,
        _ heartbeat: Heartbeat,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        unverifiedResyncs += 1
        if unverifiedResyncs > 1 {
            unverifiedResyncs = 0
            let reason = Rejection(
                .incompatible,
                "expected the updates up to revision \(head), as the primary's welcome promised; its heartbeats end at "
                    + "\(heartbeat.head)"
            )
            return incompatible(reason, lineage: heartbeat.lineage, epoch: heartbeat.epoch)
        }
        return rejoin(after: backoff.next(using: &generator), at: now, using: &generator)
    }

    private mutating func leaveJoinIfCaughtUp() -> [ReplicaDirective] {
        guard let head = join?.head, let position, position.revision >= head else { return [] }
        return leaveJoin()
    }

    // MARK: Snapshots

    /// A snapshot that is being pulled, and the updates that arrived meanwhile.
    private struct Pull: Hashable, Sendable {
        /// The position of the document after the installation.
        let target: Position
        var snapshot: SnapshotPull
        var deadline: Instant
        /// The buffered updates in order of arrival; `nil` after an overflow.
        private(set) var backlog: [Update]? = []
        private(set) var backlogBytes = 0

        init(target: Position, snapshot: SnapshotPull, deadline: Instant) {
            self.target = target
            self.snapshot = snapshot
            self.deadline = deadline
        }

        /// Buffers an update. After an overflow it buffers none: the snapshot alone is still useful.
        mutating func buffer(_ update: Update, maxBytes: Int) {
            guard backlog != nil else { return }
            backlogBytes += update.patch.count + MemoryLayout<Update>.size
            guard backlogBytes > maxBytes else {
                backlog?.append(update)
                return
            }
            (backlog, backlogBytes) = (nil, 0)
        }
    }

    /// Begins to pull the snapshot of a welcome.
    private mutating func pull(_ offer: Welcome.Offer, of welcome: Welcome, at now: Instant) -> [ReplicaDirective] {
        guard var snapshot = SnapshotPull(lineage: welcome.lineage, offer: offer, maxBytes: limits.maxSnapshotBytes)
        else {
            let reason = Rejection(
                .incompatible,
                "expected a snapshot of 1 to \(limits.maxSnapshotBytes) bytes in at most "
                    + "\(Limits.maxSnapshotChunks) chunks, got one of \(offer.bytes) bytes in chunks of "
                    + "\(offer.chunkBytes)"
            )
            return incompatible(reason, lineage: welcome.lineage, epoch: welcome.epoch)
        }
        let topics = snapshot.nextTopics(maxAhead: limits.maxChunksAhead)
        let target = Position(lineage: welcome.lineage, epoch: welcome.epoch, revision: offer.revision)
        let deadline = now.advanced(by: limits.maxRetryDelay)
        phase = .pulling(Pull(target: target, snapshot: snapshot, deadline: deadline))
        return topics.map { .subscribe($0) }
    }

    private mutating func received(
        _ chunk: Chunk,
        index: UInt32,
        on topic: Topic,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        guard case .pulling(var pull) = phase, pull.snapshot.isOf(topic), pull.snapshot.received(chunk, index: index)
        else { return [] }
        pull.deadline = now.advanced(by: limits.maxRetryDelay)
        var directives: [ReplicaDirective] = [.unsubscribe(topic)]
        directives += pull.snapshot.nextTopics(maxAhead: limits.maxChunksAhead).map { .subscribe($0) }
        phase = .pulling(pull)
        guard pull.snapshot.isComplete else { return directives }
        return directives + install(pull, at: now, using: &generator)
    }

    /// Installs the complete snapshot, then applies the buffered updates. After an overflow the replica shows the
    /// snapshot, and joins again from there.
    private mutating func install(
        _ pull: Pull,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        var directives: [ReplicaDirective] = []
        if let shown = position ?? abandonedPosition, shown.lineage == pull.target.lineage,
            shown.revision > pull.target.revision
        {
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

    // MARK: Results of the document

    /// The document could not apply a directive, or its digest differs from the primary's.
    ///
    /// The replica resynchronizes once by starting from nothing. If that fails at a snapshot, or again before a digest
    /// was confirmed, the types differ and the replica cannot resynchronize.
    package mutating func failed(
        at failed: Position,
        _ reason: Rejection,
        now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        // A snapshot of another lineage is in flight and replaces the document.
        guard let position, position.lineage == failed.lineage else { return [] }
        unverifiedResyncs += 1
        let isAtSnapshot = failed.epoch == position.epoch && failed.revision == snapshotRevision
        if isAtSnapshot || unverifiedResyncs > 1 {
            unverifiedResyncs = 0
            return [.count(.diverged)] + incompatible(reason, lineage: failed.lineage, epoch: failed.epoch)
        }
        return [.count(.diverged)] + rejoin(from: .nothing, after: .zero, at: now, using: &generator)
    }

    /// The digest of the document matches the primary's.
    package mutating func confirmed(at position: Position) {
        unverifiedResyncs = 0
    }

    private mutating func incompatible(_ reason: Rejection, lineage: Lineage, epoch: Epoch) -> [ReplicaDirective] {
        let directives = leavePull() + leaveJoin()
        abandonPosition()
        phase = .incompatible(lineage: lineage, epoch: epoch)
        return directives + changed(to: .incompatible(reason))
    }
}
