import StatecastCore

/// Decides when a node that shares its journal with others leads, and when it must be silent.
///
/// The database decides who may write: each write names the term of its writer. The times of this machine only decide
/// when to try, and until when to publish, so a wrong clock costs availability and nothing else.
///
/// A node leads at most once. Then it ends, and the service manager starts a standby.
package struct LeaderMachine: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        /// Follows the leader's records.
        case standby
        /// Has sent a claim, and waits for the outcome.
        case campaigning
        /// Has claimed, and reads the records that its copy lacks; then it stores the start of its epoch.
        case recovering
        /// Serves.
        case leading
        /// Would serve, but too much time has passed since the last confirmed commit: another node may lead.
        case muted
        case ended
    }

    /// Whether the node's copy of the stores permits a claim.
    package enum Copy: Int, Comparable, Sendable {
        case complete
        /// The records are read for the first time.
        case incomplete
        /// A later build has led: this one cannot hold its state.
        case outdated

        package static func < (left: Copy, right: Copy) -> Bool { left.rawValue < right.rawValue }
    }

    package private(set) var phase = Phase.standby
    private let settings: LeaderSettings
    private let identity: NodeID
    private let endpoint: String

    /// What was seen last, and since when it is unchanged.
    private var seen: [LeaderRow] = []
    private var seenSince = Instant.origin
    /// The last claim.
    private var claim: LeaderClaim?
    /// When the last confirmed commit was sent.
    private var lastConfirmedSent = Instant.origin
    /// The next time to look, to renew, or to be muted; `nil` while an answer is awaited.
    private var nextStep: Instant?
    private var lastNotice: LeaderNotice?

    /// - Parameters:
    ///   - identity: of the node, by which a leader names its heir.
    ///   - endpoint: where the node would take actions: shown in logs and `status`.
    package init(_ settings: LeaderSettings, identity: NodeID, endpoint: String, now: Instant) {
        (self.settings, self.identity, self.endpoint) = (settings, identity, endpoint)
        nextStep = now
    }

    /// The time of the next ``tick(at:into:)``.
    package var nextDeadline: Instant? {
        switch phase {
        case .leading: nextStep.map { min($0, validUntil) } ?? validUntil
        case .muted: nextStep.map { min($0, mutedUntil) } ?? mutedUntil
        default: nextStep
        }
    }

    /// Until then no other node can have claimed, if this node's clock is right.
    private var validUntil: Instant { lastConfirmedSent.advanced(by: settings.leaseTime - settings.margin) }
    private var mutedUntil: Instant { validUntil.advanced(by: settings.maxMutedTime) }

    /// For how long the node may serve without another confirmed commit; zero if it does not lead.
    package func leaseLeft(at now: Instant) -> Duration { phase == .leading ? now.duration(to: validUntil) : .zero }

    /// Whether the node may take actions and publish now. Asked before each turn, since the process may have been
    /// suspended since the last one.
    package mutating func mayServe(at now: Instant, into directives: inout [LeaderDirective]) -> Bool {
        if phase == .leading, now >= validUntil {
            phase = .muted
            notice(.muted, into: &directives)
        }
        return phase == .leading
    }

    // MARK: Standby

    /// The time of ``nextDeadline`` has come.
    package mutating func tick(at now: Instant, into directives: inout [LeaderDirective]) {
        _ = mayServe(at: now, into: &directives)
        if phase == .muted, now >= mutedUntil {
            let time = settings.leaseTime - settings.margin + settings.maxMutedTime
            return end("no commit was confirmed for \(time)", &directives)
        }
        guard let step = nextStep, now >= step else { return }
        switch phase {
        case .standby:
            nextStep = nil
            directives.append(.observe)
        case .recovering, .leading, .muted:
            nextStep = now.advanced(by: settings.renewalInterval)
            directives.append(.renew)
        case .campaigning, .ended: nextStep = nil
        }
    }

    /// The outcome of ``LeaderDirective/observe``.
    ///
    /// - Parameters:
    ///   - rows: one for each store, in an order that stays.
    ///   - generator: for the identity of a claim, if one is due.
    package mutating func observed(
        _ rows: [LeaderRow],
        copy: Copy,
        at now: Instant,
        using generator: inout some RandomNumberGenerator,
        into directives: inout [LeaderDirective]
    ) {
        guard phase == .standby else { return }
        nextStep = now.advanced(by: settings.pollInterval)
        if !isSame(rows) { seenSince = now }
        seen = rows
        guard !rows.contains(where: \.mayLackRecords) else {
            return notice(.lostTail, into: &directives)
        }
        switch copy {
        case .incomplete: return notice(.reading, into: &directives)
        case .outdated: return notice(.outdated, into: &directives)
        case .complete: notice(.standby(leader: rows.first?.endpoint), into: &directives)
        }
        guard mayClaim(rows, at: now) else { return }
        let claim = LeaderClaim(
            holder: NodeID(using: &generator),
            node: identity,
            seen: rows,
            endpoint: endpoint
        )
        (self.claim, phase, nextStep) = (claim, .campaigning, nil)
        directives.append(.claim(claim))
    }

    /// The database could not be read.
    package mutating func unobserved(
        because reason: String,
        at now: Instant,
        into directives: inout [LeaderDirective]
    ) {
        guard phase == .standby else { return }
        nextStep = now.advanced(by: settings.pollInterval)
        notice(.unreachable(reason: reason), into: &directives)
    }

    private func isSame(_ rows: [LeaderRow]) -> Bool {
        rows.count == seen.count
            && zip(rows, seen).allSatisfy { ($0.term, $0.beat, $0.head) == ($1.term, $1.beat, $1.head) }
    }

    private func mayClaim(_ rows: [LeaderRow], at now: Instant) -> Bool {
        // The outcome of a claim was unknown, and it took effect.
        if let claim, rows.allSatisfy({ $0.holder == claim.holder }) { return true }
        if rows.allSatisfy(\.isResigned) {
            let heirs = rows.map(\.heir)
            if heirs.allSatisfy({ $0 == nil || $0 == identity }) { return true }
            return now >= seenSince.advanced(by: settings.heirTime)
        }
        // The database has noticed the end of its process.
        let hasLeft = rows.allSatisfy { !$0.isConnected }
        return now >= seenSince.advanced(by: hasLeft ? settings.absenceTime : settings.leaseTime)
    }

    // MARK: Takeover

    /// The outcome of ``LeaderDirective/claim(_:)``.
    ///
    /// - Parameter sent: when a confirmed claim was sent; `nil`: it failed, or its outcome is unknown.
    package mutating func claimed(sent: Instant?, at now: Instant, into directives: inout [LeaderDirective]) {
        guard phase == .campaigning else { return }
        guard let sent else {
            (phase, nextStep) = (.standby, now.advanced(by: settings.pollInterval))
            return
        }
        // A recovery may take longer than the lease.
        (phase, lastConfirmedSent, nextStep) = (.recovering, sent, now.advanced(by: settings.renewalInterval))
        directives.append(.recover)
    }

    /// The stores are recovered, and the start of the epoch is confirmed.
    package mutating func recovered(at now: Instant, into directives: inout [LeaderDirective]) {
        guard phase == .recovering else { return }
        guard now < validUntil else { return end("the recovery took longer than the lease", &directives) }
        // At once: the others have seen nothing since the claim.
        (phase, nextStep) = (.leading, now)
        notice(.leading, into: &directives)
        directives.append(.lead)
    }

    // MARK: Leading

    /// A commit or a renewal of any store is confirmed.
    ///
    /// - Parameter sent: when it was sent.
    package mutating func confirmed(sent: Instant, at now: Instant, into directives: inout [LeaderDirective]) {
        guard [.recovering, .leading, .muted].contains(phase), sent > lastConfirmedSent else { return }
        lastConfirmedSent = sent
        guard phase == .muted, now < validUntil else { return }
        // No other node has claimed: the commit named this node's term.
        phase = .leading
        notice(.leading, into: &directives)
    }

    /// The recovery, a commit or a renewal has failed for good.
    package mutating func failed(_ reason: String, into directives: inout [LeaderDirective]) {
        guard phase != .ended else { return }
        end(reason, &directives)
    }

    private mutating func end(_ reason: String, _ directives: inout [LeaderDirective]) {
        (phase, nextStep) = (.ended, nil)
        directives.append(.end(reason: reason))
    }

    private mutating func notice(_ notice: LeaderNotice, into directives: inout [LeaderDirective]) {
        guard notice != lastNotice else { return }
        lastNotice = notice
        directives.append(.report(notice))
    }
}

/// The times of a ``LeaderMachine``.
package struct LeaderSettings: Hashable, Sendable {
    /// A standby claims if it has seen no sign of the leader for this long.
    package let leaseTime: Duration
    /// A leader stops this long before its lease ends: other clocks may run faster.
    package let margin = Duration.milliseconds(500)
    /// How often a standby reads the leader's row.
    package let pollInterval = Duration.milliseconds(100)
    /// How long standbys leave a resigned leader's stores to its heir.
    package let heirTime = Duration.milliseconds(500)
    /// A standby claims if the leader is not connected to the database, and has shown no sign for this long: it may
    /// connect again.
    package let absenceTime = Duration.milliseconds(300)
    /// How long a leader without confirmed commits waits for the database before it ends.
    package let maxMutedTime = Duration.seconds(10)

    package init(leaseTime: Duration) { self.leaseTime = leaseTime }

    /// How often a leader renews, also while it commits: a renewal tells the others which records are durable.
    package var renewalInterval: Duration { leaseTime / 3 }
}

/// Instructions of a ``LeaderMachine`` to its shell, to perform in order.
package enum LeaderDirective: Hashable, Sendable {
    /// Read the rows of all stores, and the records that are settled:
    /// ``LeaderMachine/observed(_:copy:at:using:into:)``.
    case observe
    /// Claim all stores: ``LeaderMachine/claimed(sent:at:into:)``.
    case claim(LeaderClaim)
    /// Read the remaining records, and store the start of the epoch: ``LeaderMachine/recovered(at:into:)``.
    case recover
    /// Serve: renew the sockets and publish.
    case lead
    /// Renew the claim; while the node serves, through the queue of commits:
    /// ``LeaderMachine/confirmed(sent:at:into:)``.
    case renew
    case report(LeaderNotice)
    /// Stop without publishing anything more.
    case end(reason: String)
}

/// What a node that shares its journal is doing, for its log.
package enum LeaderNotice: Hashable, Sendable {
    case standby(leader: String?)
    /// The copy is not complete yet.
    case reading
    /// A later build has led, so this node does not.
    case outdated
    /// The database cannot be read.
    case unreachable(reason: String)
    /// A server was promoted that may lack acknowledged records: an operator must accept the loss.
    case lostTail
    case leading
    case muted
}
