import StatecastJournal
import StatecastProtocol
import StatecastThreading

/// A peer that pushes and subscribes to what no node of ours would, also in the name of another sender's session.
struct HostilePeer {
    let world: World
    let network: Network
    let publisher: BoundPublisher
    let puller: BoundPuller

    let user: String
    /// Whether the primary authenticates it.
    let hasKeys: Bool

    /// A user that may send none of the actions that it sends.
    static let intruder = "intruder"
    /// A user that may send any action, and has no other user's session.
    static let member = "member"

    func intrude(on sender: SenderProcess, _ random: inout SplitMix64) {
        let pipe = PushPipe(
            world,
            of: user,
            to: puller,
            network.path(from: user, to: puller.endpoint),
            onRoom: {},
            onBreak: { _ in }
        )
        puller.accept(pipe)
        for _ in 0..<random.from(1...5) { pipe.send(message(like: sender, &random)) }
        let frames = ownSession(sender.store, &random)
        for frame in frames { pipe.send(frame) }
        // They may have been refused.
        world.schedule(after: random.duration(.seconds(1) ... .seconds(4))) { for frame in frames { pipe.send(frame) } }
        // Several times: most come when the sender's next frame is on its way.
        for _ in 0..<(hasKeys ? 4 : 0) {
            let bits = random.split()
            world.schedule(after: random.duration(.zero ... .seconds(3))) {
                var random = bits
                if let frame = continuation(of: sender, &random) { pipe.send(frame) }
            }
        }
        let path = network.path(from: user, to: publisher.endpoint)
        let feed = FeedPipe(world, of: user, to: publisher, path, onReadable: { _ in }, onBreak: { _ in })
        publisher.accept(feed)
        for _ in 0..<random.from(1...5) {
            let join = Topic.join(Nonce(using: &random), random.oneIn(2) ? sender.store.history.position : nil)
            let receipts = Topic.receipts(session(of: sender, &random).session)
            var topic = Address(sender.store.name, random.pick([.schema, .feed, join, receipts])).bytes
            if random.oneIn(3) { topic[random.below(topic.count)] ^= UInt8(1 + random.below(255)) }
            feed.request(true, topic)
        }
        world.schedule(after: random.duration(.milliseconds(10) ... .seconds(5))) { [weak publisher] in
            feed.breaks()
            publisher?.remove(feed)
        }
        world.schedule(after: .seconds(4)) { pipe.breaks() }
    }

    /// A sender's session, as from a stolen session file, or another one.
    private func session(of sender: SenderProcess, _ random: inout SplitMix64) -> SessionSecret {
        random.oneIn(2) ? sender.machine.secret : SessionSecret(using: &random)
    }

    /// A frame like the sender's last one, or the one after it, with the secret of its session: without keys, it would
    /// be the sender's. It is not the first one, which would open the session for the peer if the primary has lost it.
    private func continuation(of sender: SenderProcess, _ random: inout SplitMix64) -> [UInt8]? {
        let id = WorkID(sender: WorkID.firstHostileSender | UInt32(random.below(1 << 24)), serial: 1)
        let action = WorkAction(id: id, kind: .change, bits: random.next())
        let isNext = random.oneIn(2)
        guard let last = sender.lastPushed, last.session == sender.machine.secret.session,
            let content = try? ActionTable.encode(action)
        else { return nil }
        let first = isNext ? last.first.advanced(by: last.count) : last.first
        guard first > last.base else { return nil }
        let frame = ActionsFrame(
            lineage: last.lineage,
            session: last.session,
            opened: last.opened,
            base: last.base,
            lowest: last.lowest,
            first: first,
            actions: [content]
        )
        return Message.encode(frame, sender.machine.secret, to: Address(sender.store.name, .actions).bytes)
    }

    /// The frames of a session that claims to have all outcomes before any is durable.
    private func ownSession(_ store: SimulatedStore, _ random: inout SplitMix64) -> [[UInt8]] {
        guard let lineage = store.history.position?.lineage else { return [] }
        let secret = SessionSecret(using: &random)
        let sender = WorkID.firstHostileSender | UInt32(random.below(1 << 24))
        return (1...4).map { index in
            // The last one exceeds the window.
            let actions = (index...(index == 4 ? 24 : index)).compactMap { serial in
                let id = WorkID(sender: sender, serial: UInt32(serial))
                return try? ActionTable.encode(WorkAction(id: id, kind: .change, bits: random.next()))
            }
            let frame = ActionsFrame(
                lineage: lineage,
                session: secret.session,
                opened: store.history.last,
                base: ActionNumber(1),
                lowest: ActionNumber(UInt64(index)),
                first: ActionNumber(UInt64(index)),
                actions: actions
            )
            store.history.pushed(frame)
            return Message.encode(frame, secret, to: Address(store.name, .actions).bytes)
        }
    }

    /// A frame in a session that is opened in the future: a copy of a session's own frame would be its sender's.
    private func message(like sender: SenderProcess, _ random: inout SplitMix64) -> [UInt8] {
        let secret = session(of: sender, &random)
        let frame = ActionsFrame(
            lineage: sender.store.history.position?.lineage ?? Lineage(bits: 0),
            session: secret.session,
            opened: JournalSequence(1 << 40 + UInt64(random.below(100))),
            base: ActionNumber(1),
            first: random.oneIn(2)
                ? sender.machine.checkpoint.first : ActionNumber(1 << 20 + UInt64(random.below(1 << 30))),
            actions: [[]]
        )
        var message = Message.encode(frame, secret, to: Address(sender.store.name, .actions).bytes)
        if random.oneIn(2) {
            // Not in the identity of the frame, which would make it another one's.
            message[message.count - 1] ^= UInt8(1 + random.below(255))
        }
        if random.oneIn(4) { message.removeLast(random.below(message.count)) }
        return message
    }
}
