import StatecastCoding
import StatecastCore

@testable import StatecastProtocol

/// Laws of the peers whatever they receive. The input is the script of a run; its first byte chooses the peer.
enum PeerLaws {
    static func check(_ bytes: [UInt8]) throws(BrokenLaw) {
        var script = Script(bytes.prefix(Script.maxBytes))
        if script.below(2) == 0 { try ReplicaRun.check(script) } else { try SenderRun.check(script) }
    }
}

/// Laws of a replica whatever it receives: a run of its machine, whose events a script decides.
private struct ReplicaRun {
    private static let limits = {
        var limits = Limits()
        limits.maxSnapshotBytes = 1 << 12
        limits.maxBacklogBytes = 1 << 10
        limits.maxChunksAhead = 3
        return limits
    }()

    private var script: Script
    private var machine = ReplicaMachine(limits: limits, now: .origin)
    private var now = Instant.origin
    private var subscriptions = Subscriptions()
    /// The position of the document.
    private var shown: Position?
    /// The position of the machine before the last event.
    private var known: Position?
    /// The welcomes that were received.
    private var welcomes: [Welcome] = []
    /// The updates that were received, by their patches.
    private var updates: [[UInt8]: [Update]] = [:]

    static func check(_ script: Script) throws(BrokenLaw) {
        var run = ReplicaRun(script: script)
        try run.perform(run.machine.start(at: run.now, using: &run.script))
        while !run.script.isAtEnd { try run.step() }
    }

    private init(script: Script) { self.script = script }

    private mutating func step() throws(BrokenLaw) {
        switch script.below(12) {
        case 0: try tick(at: machine.nextDeadline)
        case 1: try tick(at: now.advanced(by: .milliseconds(16 * script.below(256))))
        case 2: try receive(.update(update()), on: script.oneIn(4) ? joinTopic : .feed)
        case 3: try receive(.update(following), on: script.oneIn(4) ? joinTopic : .feed)
        case 4: try receive(.heartbeat(heartbeat()), on: .feed)
        case 5: try receive(.welcome(welcome()), on: joinTopic)
        case 6: try receiveChunk()
        case 7: try receive(.refusal(refusal()), on: anyTopic)
        case 8: try receive(.welcome(welcome()), on: anyTopic)
        case 9: try receiveAnyBytes()
        case 10: try failDocument()
        default:
            if let shown { machine.confirmed(at: shown) }
        }
    }

    // MARK: Events

    private mutating func tick(at moment: Instant) throws(BrokenLaw) {
        now = max(now, moment)
        try perform(machine.tick(at: now, using: &script))
        try require(machine.nextDeadline > now, "a tick leaves a deadline that has passed")
    }

    private mutating func receive(_ frame: Frame, on topic: Topic) throws(BrokenLaw) {
        switch frame {
        case .update(let update): updates[update.patch, default: []].append(update)
        case .welcome(let welcome): welcomes.append(welcome)
        default: break
        }
        try perform(machine.received(frame, on: topic, at: now, using: &script))
    }

    /// A frame that is any bytes, on a topic that the replica subscribed to, or a message that is any bytes.
    private mutating func receiveAnyBytes() throws(BrokenLaw) {
        let topic = anyTopic
        let bytes = script.oneIn(4) ? script.data() : topic.address.bytes + script.data()
        guard let (address, frame) = try? Message.decode(bytes) else { return }
        try receive(frame, on: address.topic)
    }

    private mutating func receiveChunk() throws(BrokenLaw) {
        let topic = script.element(of: subscriptions.topics.filter { $0.isSnapshot }) ?? anyTopic
        let size = script.oneIn(8) ? script.below(64) : welcomes.last.map { Self.chunkBytes(of: $0, on: topic) } ?? 1
        try receive(.chunk(Chunk(bytes: [UInt8](repeating: 1, count: size)[...])), on: topic)
    }

    private static func chunkBytes(of welcome: Welcome, on topic: Topic) -> Int {
        guard let offer = welcome.offer, case .snapshot(_, _, let index) = topic else { return 1 }
        let (start, overflow) = Int(index).multipliedReportingOverflow(by: offer.chunkBytes)
        return overflow || offer.bytes > limits.maxSnapshotBytes
            ? 1 : max(0, min(offer.chunkBytes, offer.bytes - start))
    }

    /// The document reports that it cannot apply a directive.
    private mutating func failDocument() throws(BrokenLaw) {
        guard let shown else { return }
        let reason = Rejection(.incompatible, "it does not fit")
        try perform(machine.failed(at: shown, reason, now: now, using: &script))
    }

    // MARK: Frames

    private var joinTopic: Topic {
        subscriptions.topics.first { if case .join = $0 { true } else { false } } ?? .feed
    }

    private var anyTopic: Topic {
        mutating get { script.element(of: subscriptions.topics) ?? .feed }
    }

    /// The history that the replica probably follows.
    private var followed: Position {
        let welcome = welcomes.last
        let revision = machine.position?.revision ?? welcome?.offer?.revision ?? Revision(0)
        let (lineage, epoch) = (welcome?.lineage ?? Lineage(bits: 0xA1), welcome?.epoch ?? Epoch(1))
        return Position(lineage: lineage, epoch: epoch, revision: revision)
    }

    /// A patch that no other update has, unless the input is long.
    private mutating func patch() -> [UInt8] {
        let filler = String(repeating: "p", count: script.oneIn(8) ? 4 * script.below(256) : 0)
        return Value.array([.unsigned(UInt64(updates.count)), .text(filler)]).encoded
    }

    private mutating func update() -> Update {
        let from = script.quantity(near: followed.revision)
        return Update(
            lineage: script.lineage(),
            epoch: script.quantity(near: followed.epoch),
            from: from,
            to: script.quantity(near: from),
            patch: patch()
        )
    }

    /// The next update of the followed history, after those that were received.
    private var following: Update {
        mutating get {
            let known = followed
            let last = updates.values.joined().filter { $0.lineage == known.lineage && $0.epoch == known.epoch }
            let from = script.oneIn(2) ? last.map(\.to).max() ?? known.revision : known.revision
            return Update(lineage: known.lineage, epoch: known.epoch, from: from, to: from.next, patch: patch())
        }
    }

    private mutating func heartbeat() -> Heartbeat {
        let isOfHistory = !script.oneIn(4)
        return Heartbeat(
            lineage: isOfHistory ? followed.lineage : script.lineage(),
            epoch: isOfHistory ? followed.epoch : script.quantity(near: followed.epoch),
            head: script.quantity(near: followed.revision),
            digest: script.number(),
            time: Timestamp(milliseconds: Int64(bitPattern: script.number()))
        )
    }

    private mutating func welcome() -> Welcome {
        let head = script.quantity(near: followed.revision)
        let offer =
            script.oneIn(2)
            ? nil
            : Welcome.Offer(
                revision: script.quantity(near: head),
                bytes: script.count(),
                chunkBytes: script.count(),
                digest: script.number()
            )
        return Welcome(
            lineage: script.lineage(),
            epoch: script.quantity(near: followed.epoch),
            head: head,
            time: Timestamp(milliseconds: Int64(bitPattern: script.number())),
            stateVersion: 1,
            heartbeatInterval: script.duration(),
            offer: offer
        )
    }

    private mutating func refusal() -> Refusal {
        Refusal(script.rejection(), retryAfter: script.oneIn(2) ? script.duration() : nil)
    }

    // MARK: Laws

    private mutating func perform(_ directives: [ReplicaDirective]) throws(BrokenLaw) {
        var backlogBytes = 0
        var (isInstalled, isRewound) = (false, false)
        for directive in directives {
            switch directive {
            case .subscribe(let topic): try subscriptions.subscribe(to: topic)
            case .unsubscribe(let topic): try subscriptions.unsubscribe(from: topic)
            case .reconnect: subscriptions = Subscriptions()
            case .count(.rewound): isRewound = true
            case .install(let snapshot, let position, let digest):
                try install(snapshot, position, digest, isRewound: isRewound)
                isInstalled = true
            case .apply(let patch, let position):
                try apply(patch, position)
                if isInstalled { backlogBytes += patch.count }
            case .verify(let position, _):
                try require(
                    position.lineage == shown?.lineage && position.revision == shown?.revision,
                    "\(position) is verified, the document is at \(shown as Any)"
                )
            case .status, .time, .count: break
            }
        }
        let limits = Self.limits
        try require(backlogBytes <= limits.maxBacklogBytes, "a backlog of \(backlogBytes) bytes was kept")
        let topics = subscriptions.topics
        try require(topics.contains(.feed), "a replica always follows the feed")
        let chunks = topics.count { $0.isSnapshot }
        try require(chunks <= limits.maxChunksAhead, "\(chunks) chunks are requested at once")
        try require(topics.count <= 2 + chunks, "only one join is pending, got \(topics)")
        known = machine.position
        guard let position = machine.position else { return }
        try require(
            position.lineage == shown?.lineage && position.revision == shown?.revision,
            "the machine is at \(position), the document at \(shown as Any)"
        )
    }

    private mutating func install(
        _ snapshot: [UInt8],
        _ position: Position,
        _ digest: UInt64,
        isRewound: Bool
    ) throws(BrokenLaw) {
        let isOffered = welcomes.contains { welcome in
            guard let offer = welcome.offer else { return false }
            return (welcome.lineage, welcome.epoch, offer.revision, offer.bytes, offer.digest)
                == (position.lineage, position.epoch, position.revision, snapshot.count, digest)
        }
        try require(isOffered, "a snapshot of \(snapshot.count) bytes at \(position) was not offered")
        let maxBytes = Self.limits.maxSnapshotBytes
        try require(snapshot.count <= maxBytes, "a snapshot of \(snapshot.count) bytes is too large")
        if let known, known.lineage == position.lineage, known.revision > position.revision {
            try require(isRewound, "a snapshot leads back from \(known) to \(position), and is not counted")
        }
        shown = position
    }

    private mutating func apply(_ patch: [UInt8], _ position: Position) throws(BrokenLaw) {
        guard let shown else { throw BrokenLaw("an update to \(position) without a document") }
        try require(position.revision > shown.revision, "an update leads back from \(shown) to \(position)")
        try require(position.lineage == shown.lineage, "an update leads from \(shown) to another lineage")
        let isReceived = updates[patch, default: []].contains { update in
            (update.lineage, update.epoch, update.from, update.to)
                == (position.lineage, position.epoch, shown.revision, position.revision)
        }
        try require(isReceived, "no update from \(shown) to \(position) was received")
        self.shown = position
    }
}

extension Topic {
    fileprivate var isSnapshot: Bool { if case .snapshot = self { true } else { false } }
}
