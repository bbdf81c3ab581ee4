internal import CZeroMQ

/// Everything that a loop waits for: sockets, doorbells, timers and its wake-up. Used on the loop's thread only.
final class Roster {
    typealias ID = UInt64

    private let wakeUp: WakeUp
    private var sockets: [WatchedSocket] = []
    private var bells: [Bell] = []
    private var timers: [Timer] = []
    private var lastID: ID = 0

    /// What the last poll looked at: the wake-up, then `polled`, one by one.
    private var items: [zmq_pollitem_t] = []
    private var polled: [WatchedSocket] = []
    private var isStale = true

    init(wakeUp: WakeUp) { self.wakeUp = wakeUp }

    func makeID() -> ID {
        lastID += 1
        return lastID
    }

    func add(_ socket: WatchedSocket) {
        sockets.append(socket)
        isStale = true
    }

    func add(_ bell: Bell) { bells.append(bell) }

    func add(_ timer: Timer) { timers.append(timer) }

    func remove(_ id: ID) {
        if let index = sockets.firstIndex(where: { $0.id == id }) {
            sockets.remove(at: index).retire()
            isStale = true
        } else if let index = bells.firstIndex(where: { $0.id == id }) {
            bells.remove(at: index).retire()
        } else if let index = timers.firstIndex(where: { $0.id == id }) {
            timers.remove(at: index).retire()
        }
    }

    func removeAll() {
        let (sockets, bells, timers) = (self.sockets, self.bells, self.timers)
        self.sockets = []
        self.bells = []
        self.timers = []
        polled = []
        isStale = true
        for socket in sockets { socket.retire() }
        for bell in bells { bell.retire() }
        for timer in timers { timer.retire() }
    }

    /// Some socket's interest has changed.
    func interestChanged() { isStale = true }

    /// When the next timer is due.
    var nextDeadline: ContinuousClock.Instant? { timers.lazy.compactMap(\.deadline).min() }

    /// Whether a doorbell was rung and not answered.
    var isRung: Bool { bells.contains { $0.isWaiting } }

    // MARK: - A turn

    /// Waits until something is ready or the deadline (`nil`: never) is there.
    func poll(until deadline: ContinuousClock.Instant?) {
        if isStale { refresh() }
        guard zmq_poll(&items, Int32(items.count), pollTimeout(until: deadline)) < 0 else { return }
        for index in items.indices { items[index].revents = 0 }
        if wasTerminated() { return wakeTerminated() }
        precondition(wasInterrupted(), "zmq_poll failed: \(systemText(of: zmq_errno()))")
    }

    /// Calls the handlers of all that is ready, then those of the doorbells that were rung, then the timers that are due,
    /// earliest first.
    ///
    /// Handlers may add and remove sockets, doorbells and timers; a removed one is not called any more, an added one
    /// waits for the next turn.
    func callHandlers() {
        if items[0].revents != 0 { wakeUp.clear() }
        let (polled, items) = (polled, items)
        for (socket, item) in zip(polled, items.dropFirst()) where item.revents != 0 {
            socket.call(for: item.revents)
        }
        for bell in bells { bell.answer() }
        callTimers()
    }

    private func callTimers() {
        guard timers.contains(where: { $0.deadline != nil }) else { return }
        let now = ContinuousClock.now
        let due = timers.compactMap { timer in
            timer.deadline.flatMap { $0 <= now ? (timer: timer, deadline: $0) : nil }
        }
        for (timer, deadline) in due.sorted(by: { $0.deadline < $1.deadline }) where timer.deadline == deadline {
            timer.call()
        }
    }

    private func refresh() {
        polled = sockets.filter { $0.events != 0 }
        items = [zmq_pollitem_t(socket: nil, fd: wakeUp.descriptor, events: Int16(ZMQ_POLLIN), revents: 0)]
        items += polled.map { zmq_pollitem_t(socket: $0.pointer, fd: 0, events: $0.events, revents: 0) }
        isStale = false
    }

    /// A context was shut down, and each poll would now return at once. Its sockets are called a last time, so that
    /// their owners find out, and are not polled again.
    private func wakeTerminated() {
        for (index, socket) in polled.enumerated() where socket.isTerminated {
            items[index + 1].revents = socket.events
            socket.isAbandoned = true
        }
        isStale = true
    }
}
