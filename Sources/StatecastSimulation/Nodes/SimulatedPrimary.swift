import Statecast
import StatecastCore
import StatecastProtocol
import StatecastThreading

/// A primary: one process after the other on one host, with the production code of its stores.
final class SimulatedPrimary {
    static let endpoint = "tcp://primary:1"

    private let world: World
    private let network: Network
    private let sizes: Sizes
    private let policy: JournalPolicy
    let host: Host
    /// Whether it knows the users of its peers, and what they may send.
    let hasKeys: Bool
    private(set) var stores: [SimulatedStore]
    private(set) var process: Process?
    private var server: Server?
    private var hosted: HostedStores?
    private var loop: Loop?
    /// The time of the next tick, on the process's clock.
    private var nextTick: StatecastProtocol.Instant?
    private var random: SplitMix64
    /// The number of starts.
    private(set) var startCount = 0
    private var commitTime: ClosedRange<Duration>
    /// The last published messages, also of earlier processes.
    private(set) var published: [[UInt8]] = []
    private let turnBudget: TurnBudget
    /// The number of processes that end soon after they start.
    var crashesLeft = 0

    init(
        _ world: World,
        _ network: Network,
        _ stores: [SimulatedStore],
        _ sizes: Sizes,
        policy: JournalPolicy,
        hasKeys: Bool
    ) {
        (self.world, self.network, self.stores) = (world, network, stores)
        (self.sizes, self.policy, self.hasKeys) = (sizes, policy, hasKeys)
        random = world.random.split()
        host = Host(using: &random)
        turnBudget = sizes.hasShortTurns ? TurnBudget(actions: random.from(1...6), bytes: 300) : TurnBudget()
        commitTime = random.oneIn(3) ? .milliseconds(1) ... .milliseconds(60) : .microseconds(80) ... .milliseconds(2)
    }

    var isServing: Bool { hosted != nil && process?.isAlive == true }

    // MARK: Lifecycle

    /// Starts a process, which serves after it has recovered its stores.
    func start() {
        startCount += 1
        let process = Process("primary.\(startCount)", on: host, in: world)
        process.onEnd = { [weak self] in self?.ended() }
        self.process = process
        world.note("\(process.name) starts")
        process.schedule(after: random.duration(.milliseconds(1) ... .seconds(1))) { [weak self] in
            self?.serve(process)
        }
    }

    private func serve(_ process: Process) {
        let environment = SimulatedEnvironment(process, commitTime: commitTime, disks: stores.compactMap(\.disk))
        let server = Server(world, maxQueue: network.maxQueue) { [weak self] in self?.loop?.wake(at: $0) }
        let loop = Loop(of: process) { [weak self] in self?.poll() }
        (self.server, self.loop) = (server, loop)
        var startable: [any StartableStore] = []
        for store in stores {
            do throws(StatecastError) {
                let lineage = Lineage(bits: random.next())
                startable.append(
                    try store.recover(in: process, limits: sizes.limits, time: process.time, lineage: lineage)
                )
            } catch {
                for store in startable { store.abandon() }
                return failed(error, process)
            }
        }
        guard process.isAlive else { return }
        let services = NodeServices(
            limits: sizes.limits,
            actionsEndpoint: Self.endpoint,
            environment: environment,
            journalPolicy: policy,
            turnBudget: turnBudget,
            publish: { [weak self] _, message in self?.publish(message, from: process) },
            fail: { [weak self] in self?.failed($0, process) },
            wake: { [weak loop] in loop?.wake() }
        )
        hosted = HostedStores(startable, on: services) { _ in }
        network.listen(server, at: Self.endpoint)
        for store in stores {
            world.note(
                "\(process.name) serves \(store.name) at \(hosted?.position(of: store.name).map { "\($0)" } ?? "?")"
            )
        }
        if crashesLeft > 0 {
            crashesLeft -= 1
            process.end(afterOutputs: random.below(12), by: .primaryCrashLoops)
        }
        hosted?.begin()
        nextTick = process.now
        loop.wake()
    }

    private func failed(_ failure: StatecastError, _ process: Process) {
        guard process.isAlive else { return }
        // A primary that serves waits for room.
        let isExpected = "\(failure)".contains(Disk.failed) || hosted == nil && "\(failure)".contains(Disk.full)
        world.require(isExpected, .nodesStayUp, "\(process.name) failed: \(failure)")
        world.note("\(process.name) fails: \(failure)")
        process.end()
    }

    /// The process has ended, and another one is started some time later. What it is in the middle of has no effect.
    private func ended() {
        world.note("\(process?.name ?? "") ends")
        world.schedule(after: random.duration(.milliseconds(1) ... .seconds(10))) { [weak self] in self?.start() }
        for store in stores { store.processEnded() }
        close()
        // Not now: a call of the stores may be on the stack.
        let last = hosted
        hosted = nil
        world.schedule(after: .zero) { withExtendedLifetime(last) {} }
    }

    private func close() {
        network.close(Self.endpoint)
        server?.close()
        (server, loop, nextTick) = (nil, nil, nil)
    }

    /// Stops the process as an operator does.
    func stop() {
        guard isServing else { return }
        world.note("\(process?.name ?? "") stops")
        hosted?.finish()
        close()
        hosted?.end()
        process?.end()
    }

    // MARK: Messages

    private func publish(_ message: [UInt8], from process: Process) {
        guard process.canOutput(), let server else { return }
        if let (address, frame) = try? Message.decode(message),
            let history = stores.first(where: { $0.name == address.store })?.history
        {
            switch (address.topic, frame) {
            case (.feed, .update(let update)): history.published(update)
            case (.receipts(let session), .receipts(let receipts)): history.published(receipts, for: session)
            case (.receipts(let session), .watermark(let watermark)): history.published(watermark, for: session)
            default: break
            }
        }
        if published.count < Self.maxPublished {
            published.append(message)
        } else {
            published[random.below(Self.maxPublished)] = message
        }
        server.publish(message)
    }

    private static let maxPublished = 50

    private static let maxSubscriptionsPerTurn = 64
    private static let maxFramesPerTurn = 512

    /// As `AccessControl`; `nil` without keys.
    private func sender(_ user: String, to store: StoreName) throws(Rejection) -> FrameSender? {
        guard hasKeys else { return nil }
        let names = world.rights.names(of: user)
        if world.rights.areChanged(of: user) { world.count(.rightsWithdrawn) }
        guard !names.isEmpty else { throw Rejection(.notPermitted, "the user may send no action of \(store)") }
        return FrameSender(user: user, sendingTo: store, actions: names == UserRights.all ? nil : names)
    }

    /// A flag, 1 for a subscription or 0 for its end, and a topic.
    private func received(_ subscription: [UInt8], of user: String, _ process: Process) {
        guard let flag = subscription.first, flag <= 1 else { return }
        let begins = flag == 1
        switch FrameRouter(stores: Set(stores.map(\.name))).subscription(subscription.dropFirst()) {
        case .store(let store, .receipts(let session)) where begins:
            do throws(Rejection) {
                hosted?.subscribed(to: .receipts(session), of: store, from: try sender(user, to: store))
            } catch {
                publish(Message.encode(.refusal(Refusal(error)), to: Array(subscription.dropFirst())), from: process)
            }
        case .store(let store, let topic) where begins: hosted?.subscribed(to: topic, of: store, from: nil)
        case .store(let store, let topic): hosted?.unsubscribed(from: topic, of: store)
        case .answer(let refusal, let address):
            if begins { publish(Message.encode(.refusal(refusal), to: address), from: process) }
        case .drop: break
        }
    }

    private func poll() {
        guard let process, process.isAlive, let server, let loop, hosted != nil else { return }
        for request in server.takeRequests(Self.maxSubscriptionsPerTurn) {
            received(request.message, of: request.user, process)
        }
        for _ in 0..<Self.maxFramesPerTurn where hosted?.takesFrames == true {
            guard let (message, user) = server.nextMessage() else { break }
            hosted?.receivedActions(message) { store throws(Rejection) in try sender(user, to: store) }
        }
        if let nextTick, process.now >= nextTick { hosted?.tick() }
        nextTick = hosted?.turn()
        if let exceededLimit = hosted?.exceededLimit { world.violated(.limitsHold, exceededLimit) }
        guard process.isAlive else { return }
        loop.wake(atLocal: nextTick)
        if !server.requests.isEmpty { loop.wake() }
        if hosted?.takesFrames == true, let arrival = server.nextArrival { loop.wake(at: arrival) }
    }
}
