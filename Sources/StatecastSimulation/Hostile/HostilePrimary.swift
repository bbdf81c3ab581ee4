import StatecastCoding
import StatecastCore
import StatecastProtocol
import StatecastThreading

/// A process that takes the endpoint of a primary that has ended, and answers the nodes that connect to it: with
/// messages that the primary published before, with frames of any kind on any topic, and with bytes that are no frame.
///
/// What replicas show of it is not checked, but that they survive it, never return to an earlier incarnation, and agree
/// with the primary again afterwards. Senders receive nothing that a sender must believe: who answers in the name of a
/// history can tell a sender any outcome.
final class HostilePrimary {
    private let world: World
    private let network: Network
    private let endpoint: String
    /// Messages of the true primary.
    private let published: [[UInt8]]
    private let position: Position?
    private var random: SplitMix64
    private var server: Server?
    /// The topics that were asked for.
    private var topics: [[UInt8]] = []

    init(_ world: World, _ network: Network, at endpoint: String, after published: [[UInt8]], _ position: Position?) {
        (self.world, self.network, self.endpoint) = (world, network, endpoint)
        (self.published, self.position) = (published, position)
        random = world.random.split()
    }

    /// Serves for a time, unless the endpoint is in use.
    ///
    /// - Returns: whether it serves.
    func serve(for duration: Duration) -> Bool {
        guard network.server(at: endpoint) == nil else { return false }
        let server = Server(world, maxQueue: network.maxQueue) { [self] in world.schedule(at: $0) { self.poll() } }
        self.server = server
        network.listen(server, at: endpoint)
        world.schedule(after: duration) { [self] in
            if network.server(at: endpoint) === server { network.close(endpoint) }
            server.close()
            self.server = nil
        }
        speak()
        return true
    }

    private func poll() {
        guard let server else { return }
        while server.nextMessage() != nil {}
        for (request, _) in server.takeRequests(64) where request[0] == 1 {
            topics.append(Array(request.dropFirst()))
            // While the replica still follows the primary that ended.
            if let address = try? Address(parsing: topics[topics.count - 1][...]), case .feed = address.topic,
                random.oneIn(2), let update = continuation()
            {
                server.publish(Message.encode(.update(update), to: address))
            }
            for _ in 0..<random.from(1...3) { answer(topics[topics.count - 1]) }
        }
    }

    private func speak() {
        guard let server else { return }
        if random.oneIn(3), !published.isEmpty { server.publish(random.pick(published)) }
        if !topics.isEmpty { answer(random.pick(topics)) }
        world.schedule(after: random.duration(.milliseconds(1) ... .seconds(1))) { [self] in speak() }
    }

    private func answer(_ topic: [UInt8]) {
        guard let server, let address = try? Address(parsing: topic[...]) else { return }
        if random.oneIn(8) {
            return server.publish(topic + [UInt8](repeating: UInt8(random.below(256)), count: random.below(20)))
        }
        let isReceipts = if case .receipts = address.topic { true } else { false }
        let frame =
            isReceipts && random.oneIn(2)
            ? frameForSender() : frame(ofAny: isReceipts ? Self.kindsOfOthers : FrameKind.allCases)
        server.publish(Message.encode(frame, to: address))
    }

    // MARK: Frames

    private func lineage() -> Lineage {
        random.oneIn(3) ? Lineage(bits: random.next()) : position?.lineage ?? Lineage(bits: random.next())
    }

    /// No later one than the primary's: a replica cannot know that a later one never existed.
    private func epoch() -> Epoch { Epoch(UInt64(random.below(Int(position?.epoch.rawValue ?? 1) + 1))) }

    private func number() -> UInt64 {
        random.oneIn(6) ? .max - UInt64(random.below(3)) : UInt64(random.below(1 << random.from(1...12)))
    }

    /// The kinds that a primary sends on other topics than that of a session's receipts.
    private static let kindsOfOthers: [FrameKind] = [.update, .heartbeat, .welcome, .chunk, .schema]

    private func frame(ofAny kinds: [FrameKind]) -> Frame {
        switch random.pick(kinds) {
        case .update:
            if random.oneIn(2), let update = continuation() { return .update(update) }
            let first = number()
            return .update(
                Update(
                    lineage: lineage(),
                    epoch: epoch(),
                    from: Revision(first),
                    to: Revision(first).advanced(by: random.below(3)),
                    patch: random.pick([[0xF6], [0x80], [0xA0], [0x81, 0x00], [0x00]])
                )
            )
        case .heartbeat:
            return .heartbeat(
                Heartbeat(
                    lineage: lineage(),
                    epoch: epoch(),
                    head: Revision(number()),
                    digest: random.next(),
                    time: time
                )
            )
        case .welcome:
            let offer = Welcome.Offer(
                revision: Revision(number()),
                bytes: random.pick([0, 1, 40, Int.max]),
                chunkBytes: random.pick([0, 1, 16, Int.max]),
                digest: random.next()
            )
            return .welcome(
                Welcome(
                    lineage: lineage(),
                    epoch: epoch(),
                    head: Revision(number()),
                    time: time,
                    stateVersion: random.next(),
                    heartbeatInterval: .milliseconds(random.below(2000)),
                    offer: random.oneIn(2) ? offer : nil
                )
            )
        case .chunk: return .chunk(Chunk(bytes: [UInt8](repeating: 0xA0, count: random.pick([0, 1, 16]))[...]))
        case .schema:
            return .schema(
                StoreSchema(
                    lineage: lineage(),
                    stateVersion: random.next(),
                    actions: [],
                    epoch: epoch(),
                    head: Revision(number()),
                    sessions: random.below(9),
                    durability: nil
                )
            )
        case .refusal, .watermark, .receipts, .expected, .actions: return frameForSender()
        }
    }

    /// A published patch that continues the last position, in the name of some incarnation.
    private func continuation() -> Update? {
        guard let position, !published.isEmpty,
            case .update(let update)? = (try? Message.decode(random.pick(published)))?.1
        else { return nil }
        let head = position.revision
        return Update(lineage: position.lineage, epoch: epoch(), from: head, to: head.next, patch: update.patch)
    }

    /// A frame that changes no outcome of an action that was sent: of another history, about numbers that were never
    /// used, to be tried again, or a refusal of the whole session.
    private func frameForSender() -> Frame {
        let other = Lineage(bits: random.next())
        switch random.below(8) {
        case 0:
            return .watermark(
                Watermark(
                    lineage: other,
                    epoch: epoch(),
                    number: random.oneIn(2) ? nil : ActionNumber(0),
                    opened: JournalSequence(number()),
                    maxWindowActions: random.pick([0, 1, Int.max]),
                    maxActionBytes: random.pick([0, 100, Int.max]),
                    maxFrameBytes: random.pick([0, 100, Int.max]),
                    endpoint: random.pick(["", "tcp://nowhere:1"])
                )
            )
        case 1:
            var outcomes = OutcomeRuns(first: ActionNumber(1 << 62))
            outcomes.append(.applied(Revision(number() / 2)), count: random.from(1...5))
            return .receipts(Receipts(lineage: position?.lineage ?? other, epoch: epoch(), outcomes: outcomes))
        case 2:
            var outcomes = OutcomeRuns(first: ActionNumber(1))
            outcomes.append(.applied(Revision(1)), count: random.from(1...5))
            return .receipts(Receipts(lineage: other, epoch: epoch(), outcomes: outcomes))
        case 3: return .expected(Expected(lineage: position?.lineage ?? other, number: ActionNumber(number())))
        case 4:
            let frame = Refusal.PushedFrame(opened: JournalSequence(1 << 50), first: ActionNumber(number()))
            return .refusal(Refusal(Rejection(.unknownSession, "hostile"), frame: frame))
        case 5:
            let reason = Rejection(random.oneIn(2) ? .overloaded : .storageFull, "hostile")
            return .refusal(Refusal(reason, retryAfter: random.duration(.milliseconds(1) ... .seconds(2))))
        case 6: return .refusal(Refusal(Rejection(.unknownStore, "hostile")))
        default: return .chunk(Chunk(bytes: [0xFF]))
        }
    }

    private var time: Timestamp { Timestamp(milliseconds: Int64(random.below(1 << 40))) }
}
