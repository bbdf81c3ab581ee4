import Dispatch
import StatecastThreading
import Synchronization

/// Starts effects, tracks the running work, and cancels it.
///
/// Passes the actions that effects send to `deliver`, which enqueues them like all other actions.
package final class EffectRunner: Sendable {
    private struct Content {
        var runs: [UInt64: EffectRun] = [:]
        var numbersByID: [AnyID: Set<UInt64>] = [:]
        var count: UInt64 = 0
        /// The run of all `.dispatch` effects, which involve no work.
        var dispatchRun = EffectRun(number: 0, id: nil) {}
        /// Incremented by `cancelAll`, so that interrupted sequences do not continue.
        var generation: UInt64 = 0

        mutating func remove(_ run: EffectRun) {
            runs[run.number] = nil
            guard let id = run.id, var numbers = numbersByID.removeValue(forKey: id) else { return }
            numbers.remove(run.number)
            if !numbers.isEmpty { numbersByID[id] = numbers }
        }
    }

    private let content = Locked(Content())
    /// Work starts on this queue, in call order. Dispatch gives it a thread outside of the cooperative pool.
    private let startQueue = DispatchQueue(label: "statecast.effects.start")
    private let executor: (any TaskExecutor)?
    private let clock: any EffectClock
    private let deliver: @Sendable (EffectAction) -> Void
    private let onCancel: @Sendable (UInt64) -> Void
    private let onFailure: @Sendable () -> Void

    /// - Parameters:
    ///     - executor: where all jobs of the tasks run; nil: the global executor.
    ///     - clock: measures delays; nil: the system's clock.
    ///     - onCancel: called with the number of a run that an effect cancelled.
    ///     - onFailure: called when work has thrown an error, unless it was cancelled.
    ///     - deliver: called with each action that an effect sends. All are called on any thread.
    package init(
        on executor: (any TaskExecutor)? = nil,
        clock: (any EffectClock)? = nil,
        onCancel: @escaping @Sendable (UInt64) -> Void = { _ in },
        onFailure: @escaping @Sendable () -> Void = {},
        deliver: @escaping @Sendable (EffectAction) -> Void
    ) {
        self.executor = executor
        self.clock = clock ?? SystemEffectClock()
        self.onCancel = onCancel
        self.onFailure = onFailure
        self.deliver = deliver
    }

    deinit { cancelAll() }

    /// The number of running units of work.
    package var runningCount: Int { content.withLock { $0.runs.count } }

    /// Starts an effect. Called for one effect at a time, in the order of their actions.
    ///
    /// - Parameter key: the key of the effect's first unit of work; the index of the others counts up from it.
    package func start(_ effect: Effect, key: IdempotencyKey) {
        guard !effect.isNone else { return }
        start(effect, key: key, in: content.withLock { $0.generation }) {}
    }

    /// Cancels all work and all sequences.
    package func cancelAll() {
        let runs = content.withLock { content in
            defer { content = Content(count: content.count, generation: content.generation + 1) }
            return content.runs.values + [content.dispatchRun]
        }
        for run in runs { run.cancel() }
    }

    /// - Parameter next: called once after the effect has ended, unless its generation is over.
    private func start(
        _ effect: Effect,
        key: IdempotencyKey,
        in generation: UInt64,
        then next: @escaping @Sendable () -> Void
    ) {
        switch effect.operation {
        case nil: next()
        case .dispatch(let action):
            guard let run = content.withLock({ $0.generation == generation ? $0.dispatchRun : nil }) else { return }
            deliver(EffectAction(action: action, run: run, onComplete: next))
        case .cancel(let id):
            cancel(id)
            next()
        case .run(let work): start(work, key: key, in: generation, then: next)
        case .merge(let parts):
            let remaining = Countdown(from: parts.effects.count)
            var key = key
            for effect in parts {
                start(effect, key: key, in: generation) { if remaining.decrement() { next() } }
                key = key.advanced(by: effect.workCount)
            }
        case .sequence(let parts): start(parts.effects[...], key: key, in: generation, then: next)
        }
    }

    /// Starts the effects of a sequence.
    private func start(
        _ effects: ArraySlice<Effect>,
        key: IdempotencyKey,
        in generation: UInt64,
        then next: @escaping @Sendable () -> Void
    ) {
        var (effects, key) = (effects, key)
        // A loop over the parts that end at once: recursion would overflow the stack.
        while let first = effects.popFirst() {
            guard isCurrent(generation) else { return }
            let (others, keyOfOthers) = (effects, key.advanced(by: first.workCount))
            // Decremented by the end of the part and by this loop. The later of the two continues the sequence.
            let remaining = Countdown(from: 2)
            start(first, key: key, in: generation) { [weak self] in
                if remaining.decrement() { self?.start(others, key: keyOfOthers, in: generation, then: next) }
            }
            guard remaining.decrement() else { return }
            key = keyOfOthers
        }
        guard isCurrent(generation) else { return }
        next()
    }

    private func start(
        _ work: Effect.Work,
        key: IdempotencyKey,
        in generation: UInt64,
        then next: @escaping @Sendable () -> Void
    ) {
        guard let run = register(work.id, in: generation) else { return }
        let end: @Sendable () -> Void = { [weak self] in
            if self?.end(run, in: generation) ?? false { next() }
        }
        switch work.body {
        case .run(let priority, let body):
            let send = Send(idempotencyKey: key, run: run, deliver: deliver)
            let task = Task.detached(executorPreference: executor ?? OrderedStart(on: startQueue), priority: priority) {
                await body(send)
                end()
            }
            run.attach { task.cancel() }
        case .blocking(let body):
            let send = BlockingSend(idempotencyKey: key, run: run, deliver: deliver)
            startQueue.async {
                BlockingThreadPool.shared.start {
                    body(send)
                    end()
                }
            }
        case .timer(let timer): start(timer, at: clock.now + timer.delay, of: run, then: end)
        }
    }

    /// Schedules a timer. It has no task of its own, so that a test clock, which calls back within a turn of the test,
    /// has the next deadline when the turn ends.
    private func start(
        _ timer: Effect.Timer,
        at deadline: Duration,
        tick: Int = 0,
        of run: EffectRun,
        then end: @escaping @Sendable () -> Void
    ) {
        let cancel = clock.schedule(at: deadline) { [weak self] isDue in
            guard isDue, let self else { return end() }
            let action = EffectAction(action: timer.action, run: run) { [weak self] in
                guard timer.isRepeating, !run.isCancelled, let self else { return end() }
                let missed = (clock.now - deadline).attoseconds / timer.delay.attoseconds
                let next = deadline + Duration(attoseconds: timer.delay.attoseconds * (missed + 1))
                start(timer, at: next, tick: tick + 1, of: run, then: end)
            }
            deliver(action)
        }
        run.attach(tick: tick, cancel)
    }

    private func isCurrent(_ generation: UInt64) -> Bool { content.withLock { $0.generation == generation } }

    private func register(_ id: AnyID?, in generation: UInt64) -> EffectRun? {
        content.withLock { content in
            guard content.generation == generation else { return nil }
            content.count += 1
            let run = EffectRun(number: content.count, id: id, onFailure: onFailure)
            content.runs[run.number] = run
            if let id { content.numbersByID[id, default: []].insert(run.number) }
            return run
        }
    }

    /// Removes a run. Returns whether the sequence that contains it may continue.
    private func end(_ run: EffectRun, in generation: UInt64) -> Bool {
        content.withLock { content in
            content.remove(run)
            return content.generation == generation
        }
    }

    private func cancel(_ id: AnyID) {
        let runs = content.withLock { content in
            let runs = (content.numbersByID[id] ?? []).sorted().compactMap { content.runs[$0] }
            for run in runs { content.remove(run) }
            return runs
        }
        for run in runs {
            run.cancel()
            onCancel(run.number)
        }
    }
}

/// One running unit of work.
final class EffectRun: Sendable {
    let number: UInt64
    let id: AnyID?
    private let cancelled = Atomic(false)
    private let sendCount = Atomic(0)
    private let canceller = Locked<(tick: Int, cancel: @Sendable () -> Void)?>(nil)
    private let onFailure: @Sendable () -> Void

    init(number: UInt64, id: AnyID?, onFailure: @escaping @Sendable () -> Void) {
        (self.number, self.id, self.onFailure) = (number, id, onFailure)
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// Counts a send. Returns whether the task is to yield after it.
    func isDueToYield() -> Bool { sendCount.wrappingAdd(1, ordering: .relaxed).newValue.isMultiple(of: 64) }

    /// Keeps the closure that cancels the work; of those of a timer, the one of the latest tick, which may be attached
    /// before the one of the tick before.
    func attach(tick: Int = 0, _ cancel: @escaping @Sendable () -> Void) {
        canceller.withLock { attached in
            if attached.map({ $0.tick < tick }) ?? true { attached = (tick, cancel) }
        }
        if isCancelled { cancel() }
    }

    /// The work has thrown an error.
    func fail() { if !isCancelled { onFailure() } }

    func cancel() {
        cancelled.store(true, ordering: .releasing)
        canceller.withLock { $0 }?.cancel()
    }
}

/// Runs the first job of a task on a serial queue and all others on the global executor.
///
/// Tasks thereby start in the order in which they are created, which the cooperative pool does not guarantee.
private final class OrderedStart: TaskExecutor {
    private let queue: DispatchQueue
    private let hasStarted = Atomic(false)

    init(on queue: DispatchQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if hasStarted.exchange(true, ordering: .acquiringAndReleasing) {
            globalConcurrentExecutor.enqueue(job)
        } else {
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}

/// Counts events that occur on any thread.
private final class Countdown: Sendable {
    private let remaining: Atomic<Int>

    init(from count: Int) { remaining = Atomic(count) }

    /// Returns whether this was the last event.
    func decrement() -> Bool { remaining.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}
