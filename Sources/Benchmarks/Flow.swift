import Synchronization

/// Bounds the number in flight, and samples latencies: the same code for the nodes and for the raw pipe.
///
/// One sender numbers its actions from 0, and calls ``admits(_:)`` before each. Each receiver reports how many it has
/// shown. In flight are the actions that the sender has sent and the slowest receiver has not shown.
///
/// Unchecked, but safe: a stamp is written before ``sent`` is stored (releasing), and read only by receivers of that
/// action, after ``sent`` was loaded (acquiring). Each receiver's samples have one writer, and are read after the end.
final class Flow: @unchecked Sendable {
    /// A clock call costs as much as a part of the path: every 16th action is sampled.
    private static let sampling = 16

    final class Receiver: Sendable {
        fileprivate let shown = Atomic(0)
        fileprivate nonisolated(unsafe) var samples: [UInt64] = []
    }

    let receivers: [Receiver]
    private let window: Int
    private let count: Int
    private let stamps: UnsafeMutablePointer<UInt64>
    private let sent = Atomic(0)
    /// The number to show at which the sender goes on; `Int.max` while it does not wait.
    private let awaited = Atomic(Int.max)
    private let wake: @Sendable () -> Void
    /// Owned by the sender.
    private var admitted: Int
    private(set) var inFlightMax = 0

    /// - Parameters:
    ///   - count: all actions.
    ///   - window: the most actions in flight.
    ///   - wake: called on a receiver's thread after ``waits(for:)`` has returned true, once.
    init(count: Int, window: Int, receivers: Int = 1, wake: @escaping @Sendable () -> Void) {
        self.count = count
        self.window = window
        self.wake = wake
        self.receivers = (0..<receivers).map { _ in Receiver() }
        for receiver in self.receivers { receiver.samples.reserveCapacity(count / Self.sampling + 1) }
        stamps = .allocate(capacity: count / Self.sampling + 1)
        stamps.initialize(repeating: 0, count: count / Self.sampling + 1)
        admitted = min(window, count)
    }

    deinit { stamps.deallocate() }

    private var slowest: Int { receivers.reduce(.max) { min($0, $1.shown.load(ordering: .sequentiallyConsistent)) } }

    /// Whether the sender may send action `index` now; if not, see ``waits(for:)``.
    @inline(__always)
    func admits(_ index: Int) -> Bool {
        if index >= admitted && !extend(index) { return false }
        if index % Self.sampling == 0 { stamp(index) }
        return true
    }

    private func extend(_ index: Int) -> Bool {
        let slowest = slowest
        inFlightMax = max(inFlightMax, index - slowest)
        admitted = slowest + window
        return index < admitted
    }

    private func stamp(_ index: Int) {
        stamps[index / Self.sampling] = monotonicNow()
        sent.store(index + 1, ordering: .releasing)
    }

    /// Returns whether the sender has to wait until ``wake`` is called: a quarter of the window is free then, so that
    /// it does not wake for each action.
    func waits(for index: Int) -> Bool {
        let target = index - window + max(1, window / 4)
        awaited.store(target, ordering: .sequentiallyConsistent)
        guard slowest >= target else { return true }
        return awaited.exchange(.max, ordering: .sequentiallyConsistent) == .max
    }

    /// Reports that a receiver has shown the first `shown` actions.
    @inline(__always)
    func advance(_ receiver: Receiver, to shown: Int) {
        let before = receiver.shown.load(ordering: .relaxed)
        let first = (before + Self.sampling - 1) / Self.sampling
        if first * Self.sampling < shown { sample(receiver, first, shown) }
        receiver.shown.store(shown, ordering: .sequentiallyConsistent)
        let target = awaited.load(ordering: .sequentiallyConsistent)
        if target <= shown { wakeSender(target) }
    }

    private func sample(_ receiver: Receiver, _ first: Int, _ shown: Int) {
        _ = sent.load(ordering: .acquiring)
        let now = monotonicNow()
        for index in first...(shown - 1) / Self.sampling { receiver.samples.append(now - stamps[index]) }
    }

    private func wakeSender(_ target: Int) {
        guard slowest >= target else { return }
        let (exchanged, _) = awaited.compareExchange(
            expected: target,
            desired: .max,
            ordering: .sequentiallyConsistent
        )
        if exchanged { wake() }
    }

    /// In nanoseconds, of all receivers.
    var latencies: [UInt64] { receivers.flatMap(\.samples) }
}

/// Lets a task wait for the next signal; a signal before the wait is kept.
final class Gate: Sendable {
    private let state = Mutex((isSignaled: false, waiter: CheckedContinuation<Void, Never>?.none))

    func signal() {
        let waiter = state.withLock { state in
            let waiter = state.waiter
            state = (waiter == nil, nil)
            return waiter
        }
        waiter?.resume()
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isSignaled = state.withLock { state in
                let isSignaled = state.isSignaled
                state = (false, isSignaled ? nil : continuation)
                return isSignaled
            }
            if isSignaled { continuation.resume() }
        }
    }
}
