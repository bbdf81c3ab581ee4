internal import Locking
import Synchronization

/// Starts effects, keeps track of what runs, and ends it.
///
/// What an effect sends goes to `deliver`, which puts it in line with all other actions.
package final class EffectRunner: Sendable {
    fileprivate struct Running {
        var runs: [UInt64: EffectRun] = [:]
        var byID: [AnyID: Set<UInt64>] = [:]
        var count: UInt64 = 0
        /// Stands for all that is sent without any work.
        var sending = EffectRun(number: 0, id: nil)
        /// Rises with each `cancelAll`, so that a sequence that was cut off does not go on.
        var generation: UInt64 = 0
    }

    private let running = Locked(Running())
    private let starting: StartLine
    private let deliver: @Sendable (EffectResult) -> Void

    package convenience init(deliver: @escaping @Sendable (EffectResult) -> Void) {
        self.init(starting: StartLine(), deliver: deliver)
    }

    init(starting: StartLine, deliver: @escaping @Sendable (EffectResult) -> Void) {
        self.starting = starting
        self.deliver = deliver
    }

    deinit { cancelAll() }

    /// How many pieces of work are under way.
    package var runningCount: Int { running.withLock { $0.runs.count } }

    /// Starts an effect. Called for one effect after the other, in the order of their actions.
    ///
    /// - Parameter key: of the effect's first piece of work; the others count on from its index.
    package func start(_ effect: Effect, key: IdempotencyKey) {
        guard !effect.isNone else { return }
        start(effect, key: key, in: running.withLock { $0.generation }) {}
    }

    /// Ends all work, and keeps sequences from going on.
    package func cancelAll() {
        let runs = running.withLock { running in
            defer {
                running.runs = [:]
                running.byID = [:]
                running.sending = EffectRun(number: 0, id: nil)
                running.generation += 1
            }
            return running.runs.values + [running.sending]
        }
        for run in runs { run.cancel() }
    }
}

extension EffectRunner {
    private func start(
        _ effect: Effect,
        key: IdempotencyKey,
        in generation: UInt64,
        then next: @escaping @Sendable () -> Void
    ) {
        switch effect.operation {
        case nil: next()
        case .dispatch(let action):
            guard let run = running.withLock({ $0.generation == generation ? $0.sending : nil }) else { return }
            deliver(EffectResult(action: action, run: run, onSettled: next))
        case .cancel(let id):
            cancel(id)
            next()
        case .run(let work): start(work, key: key, in: generation, then: next)
        case .merge(let parts):
            let left = Locked(parts.effects.count)
            var key = key
            for effect in parts {
                start(effect, key: key, in: generation) {
                    let isLast = left.withLock { left in
                        left -= 1
                        return left == 0
                    }
                    if isLast { next() }
                }
                key = key.advanced(by: effect.workCount)
            }
        case .sequence(let parts): start(parts.effects[...], key: key, in: generation, then: next)
        }
    }

    private func start(
        _ effects: ArraySlice<Effect>,
        key: IdempotencyKey,
        in generation: UInt64,
        then next: @escaping @Sendable () -> Void
    ) {
        var (effects, key) = (effects, key)
        // A loop over parts that end at once: were each to start the next, many would overflow the stack.
        while let first = effects.popFirst() {
            guard isCurrent(generation) else { return }
            let (others, keyOfOthers) = (effects, key.advanced(by: first.workCount))
            let meeting = Meeting()
            start(first, key: key, in: generation) { [weak self] in
                if meeting.isLastToCome() { self?.start(others, key: keyOfOthers, in: generation, then: next) }
            }
            guard meeting.isLastToCome() else { return }
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
        let ended: @Sendable () -> Void = { [weak self] in
            if self?.ended(run, in: generation) ?? false { next() }
        }
        switch work.body {
        case .run(let priority, let body):
            let send = Send(idempotencyKey: key, run: run, deliver: deliver)
            let executor = StartInOrder(on: starting)
            run.attach(
                Task.detached(executorPreference: executor, priority: priority) {
                    await body(send)
                    ended()
                }
            )
        case .blocking(let body):
            let send = BlockingSend(idempotencyKey: key, run: run, deliver: deliver)
            starting.append {
                BlockingThreads.shared.start {
                    body(send)
                    ended()
                }
            }
        }
    }

    private func isCurrent(_ generation: UInt64) -> Bool { running.withLock { $0.generation == generation } }

    private func register(_ id: AnyID?, in generation: UInt64) -> EffectRun? {
        running.withLock { running in
            guard running.generation == generation else { return nil }
            running.count += 1
            let run = EffectRun(number: running.count, id: id)
            running.runs[run.number] = run
            if let id { running.byID[id, default: []].insert(run.number) }
            return run
        }
    }

    /// Forgets a run. Says whether what comes after it may start.
    private func ended(_ run: EffectRun, in generation: UInt64) -> Bool {
        running.withLock { running in
            running.forget(run)
            return running.generation == generation
        }
    }

    private func cancel(_ id: AnyID) {
        let runs = running.withLock { running in
            let runs = (running.byID[id] ?? []).sorted().compactMap { running.runs[$0] }
            for run in runs { running.forget(run) }
            return runs
        }
        for run in runs { run.cancel() }
    }
}

/// Of the end of a part and of whoever started it, each of which comes once, on any thread: the last one goes on.
private final class Meeting: Sendable {
    private let oneIsThere = Atomic(false)

    func isLastToCome() -> Bool { oneIsThere.exchange(true, ordering: .acquiringAndReleasing) }
}

extension EffectRunner.Running {
    fileprivate mutating func forget(_ run: EffectRun) {
        runs[run.number] = nil
        guard let id = run.id, var numbers = byID.removeValue(forKey: id) else { return }
        numbers.remove(run.number)
        if !numbers.isEmpty { byID[id] = numbers }
    }
}

extension IdempotencyKey {
    fileprivate func advanced(by count: Int) -> IdempotencyKey {
        IdempotencyKey(lineage: lineage, revision: revision, index: index + count, start: start)
    }
}
