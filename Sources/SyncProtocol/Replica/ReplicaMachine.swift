import StateCore

/// Decides for one replica of one store: when to join, what to apply, when to start over.
///
/// It never sees the state, only positions: the shell applies patches and says when one did not fit. The subscriptions
/// of a replica are all that it can say, and the pipe from the primary is ordered; both are what this rests on.
package struct ReplicaMachine: Hashable, Sendable {
    /// Where the replica is in its life.
    enum Phase: Hashable, Sendable {
        /// Waits a moment before it asks (again). Leaves to `joining` at `until`.
        case waiting(until: Instant)
        /// Has asked. Leaves to `pulling` or `following` with the welcome, asks again at `deadline`.
        case joining(deadline: Instant)
        /// Collects a snapshot while updates are held back. Leaves to `following` when it is complete, to `waiting`
        /// when it cannot be had.
        case pulling(Pull)
        /// Applies in order. Leaves to `waiting` on a gap or another history.
        case following
        /// What was published did not fit. Leaves to `waiting` when another primary speaks.
        case incompatible(lineage: Lineage, epoch: Epoch)
    }

    /// A join that was sent and is not over: subscribed until the position has reached its head.
    struct Join: Hashable, Sendable {
        let topic: Topic
        /// From the welcome.
        var head: Revision?
    }

    package let limits: Limits
    var phase: Phase
    var join: Join?
    /// What the document shows once all directives are carried out; `nil` before the first snapshot.
    package internal(set) var position: Position?
    /// The revision of the snapshot that the document began with.
    var snapshotRevision: Revision?
    /// How often the document was started over since its digest was last seen to be right.
    var healsUnconfirmed = 0
    var backoff: Backoff
    var status = ReplicaStatus.joining
    var heartbeatInterval: Duration
    var lastHeard: Instant

    package init(limits: Limits, now: Instant) {
        self.limits = limits
        phase = .waiting(until: now)
        backoff = Backoff(limits)
        heartbeatInterval = limits.heartbeatInterval
        lastHeard = now
    }

    /// Begins: the feed first, the join behind it.
    package mutating func start(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        [.status(.joining), .subscribe(.feed)] + ask(at: now, using: &generator)
    }

    // MARK: Time

    /// When `tick` wants to be called next; `nil`: only when something arrived.
    package var nextDeadline: Instant? {
        switch phase {
        case .waiting(let until): until
        case .joining(let deadline): deadline
        case .pulling(let pull): pull.deadline
        case .following: status == .stale ? nil : lastHeard.advanced(by: staleAfter)
        case .incompatible: nil
        }
    }

    private var staleAfter: Duration { heartbeatInterval * (limits.heartbeatsMissedMax + 1) }

    /// Time has passed. Call it behind taking in what arrived, so that a process that was stopped for a while first
    /// hears what it missed.
    package mutating func tick(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        guard let nextDeadline, now >= nextDeadline else { return [] }
        switch phase {
        case .waiting: return ask(at: now, using: &generator)
        case .joining: return leaveJoin() + ask(at: now, using: &generator)
        case .pulling: return rejoin(after: backoff.next(using: &generator), at: now, using: &generator)
        case .following: return changed(to: .stale)
        case .incompatible: return []
        }
    }

    // MARK: Asking

    private mutating func ask(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        let topic = Topic.join(Nonce(using: &generator), position)
        join = Join(topic: topic)
        phase = .joining(deadline: now.advanced(by: backoff.next(using: &generator)))
        return [.count(.joining), .subscribe(topic)]
    }

    /// Stops what is under way and asks again after a delay.
    mutating func rejoin(
        fromNothing: Bool = false,
        after delay: Duration,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        var directives = leavePull() + leaveJoin()
        if fromNothing { position = nil }
        phase = .waiting(until: now.advanced(by: delay))
        directives += changed(to: .joining)
        return delay == .zero ? directives + ask(at: now, using: &generator) : directives
    }

    func leavePull() -> [ReplicaDirective] {
        guard case .pulling(let pull) = phase else { return [] }
        return pull.snapshot.outstanding.sorted().map { .unsubscribe(pull.snapshot.topic($0)) }
    }

    mutating func leaveJoin() -> [ReplicaDirective] {
        defer { join = nil }
        return join.map { [.unsubscribe($0.topic)] } ?? []
    }

    mutating func changed(to status: ReplicaStatus) -> [ReplicaDirective] {
        // A refusal stays visible while the primary is asked again.
        if case .refused = self.status, status == .joining { return [] }
        guard status != self.status else { return [] }
        self.status = status
        return [.status(status)]
    }
}
