internal import StateCore

extension ReplicaMachine {
    /// Takes in a message of the store.
    package mutating func received(
        _ frame: Frame,
        on topic: Topic,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
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
            directives = rejoin(fromNothing: true, after: delay, at: now, using: &generator)
        default: return []
        }
        lastHeard = now
        if case .following = phase, join == nil {
            backoff.reset()
            directives += changed(to: .live)
        }
        return directives
    }

    /// A message on the topic of the join that is under way.
    private mutating func received(
        answer frame: Frame,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
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
            // Only a faulty primary answers so: nothing that it has leads from here to its head.
            let delay = backoff.next(using: &generator)
            return rejoin(fromNothing: true, after: delay, at: now, using: &generator)
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
            return other(update.lineage, update.epoch, than: known, at: now, using: &generator)
        }
        switch phase {
        case .pulling(var pull):
            pull.hold(update, bytesMax: limits.backlogBytesMax)
            phase = .pulling(pull)
            return []
        case .following:
            if update.to <= known.revision { return [] }
            guard update.from == known.revision else { return gap(at: now, using: &generator) }
            let next = known.moved(to: update.to)
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
            return other(heartbeat.lineage, heartbeat.epoch, than: known, at: now, using: &generator)
        }
        guard case .following = phase else { return [.time(heartbeat.time)] }
        if heartbeat.head != known.revision { return [.time(heartbeat.time)] + gap(at: now, using: &generator) }
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

    /// The history whose frames mean something now; `nil` while the primary is being asked. Frames that come before
    /// its welcome lie behind the welcome's head: the pipe is ordered.
    private var followed: Position? {
        switch phase {
        case .following: position
        case .pulling(let pull): pull.target
        case .incompatible(let lineage, let epoch): Position(lineage: lineage, epoch: epoch, revision: Revision(0))
        case .waiting, .joining: nil
        }
    }

    /// A frame of another history than the one that is followed. An older incarnation's is late and ignored; of
    /// anything else it cannot be known what it means, so ask.
    private mutating func other(
        _ lineage: Lineage,
        _ epoch: Epoch,
        than known: Position,
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        if lineage == known.lineage, epoch < known.epoch { return [] }
        let jitter = Duration.random(upTo: limits.gapJitterMax, using: &generator)
        return rejoin(after: jitter, at: now, using: &generator)
    }

    private mutating func gap(
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [ReplicaDirective] {
        let jitter = Duration.random(upTo: limits.gapJitterMax, using: &generator)
        return [.count(.gap)] + rejoin(after: jitter, at: now, using: &generator)
    }

    mutating func leaveJoinIfCaughtUp() -> [ReplicaDirective] {
        guard let head = join?.head, let position, position.revision >= head else { return [] }
        return leaveJoin()
    }
}
