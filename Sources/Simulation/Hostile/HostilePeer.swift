import SyncProtocol

/// A peer that pushes and subscribes to what no node of ours would, also in the name of another sender's session.
struct HostilePeer {
    let world: World
    let network: Network
    let server: Server

    func intrude(on sender: SimulatedSender, _ random: inout SplitMix64) {
        let pipe = PushPipe(world, to: server, network.path(of: "intruder"), onRoom: {}, onBreak: {})
        server.accept(pipe)
        for _ in 0..<random.from(1...5) { pipe.send(message(like: sender, &random)) }
        let feed = FeedPipe(world, to: server, network.path(of: "intruder"), onReadable: { _ in }, onBreak: {})
        server.accept(feed)
        for _ in 0..<random.from(1...5) {
            let join = Topic.join(Nonce(using: &random), random.oneIn(2) ? sender.store.history.position : nil)
            let receipts = Topic.receipts(random.oneIn(2) ? sender.machine.session : SessionID(using: &random))
            var topic = Address(sender.store.name, random.pick([.schema, .feed, join, receipts])).bytes
            if random.oneIn(3) { topic[random.below(topic.count)] ^= UInt8(1 + random.below(255)) }
            feed.request(true, topic)
        }
        world.schedule(after: random.duration(.milliseconds(10) ... .seconds(5))) { [weak server] in
            feed.breaks()
            server?.remove(feed)
            pipe.breaks()
        }
    }

    /// A frame in a session that is opened in the future, or far ahead of its number: a copy of a session's own frame
    /// would be its sender's.
    private func message(like sender: SimulatedSender, _ random: inout SplitMix64) -> [UInt8] {
        let frame = ActionsFrame(
            lineage: sender.store.history.position?.lineage ?? Lineage(bits: 0),
            session: random.oneIn(2) ? sender.machine.session : SessionID(using: &random),
            opened: JournalSequence(random.oneIn(2) ? 1 << 40 + UInt64(random.below(100)) : 0),
            base: ActionNumber(1),
            first: ActionNumber(1 << 20 + UInt64(random.below(1 << 30))),
            actions: [[]]
        )
        var message = Message.encode(.actions(frame), to: Address(sender.store.name, .actions))
        if random.oneIn(2) {
            // Not in the identity of the frame, which would make it another one's.
            message[message.count - 1] ^= UInt8(1 + random.below(255))
        }
        if random.oneIn(4) { message.removeLast(random.below(message.count)) }
        return message
    }
}
