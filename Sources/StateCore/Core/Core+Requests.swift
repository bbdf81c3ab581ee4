extension Core {
    /// What can wait in line.
    @usableFromInline
    enum Request: Sendable {
        case reduce(any Action, depth: Int)
        case awaited(any Action, @Sendable (Result<Reply, Rejection>) -> Void, depth: Int)
        case result(EffectResult, depth: Int)
        case observe(Listener<Change<State>>, replay: Bool, needsOld: Bool)
        case ignore(Listener<Change<State>>, needsOld: Bool)
        case tap(Listener<TappedAction<State>>, TapMoment)
        case untap(Listener<TappedAction<State>>)
        case update(@Sendable (inout State) -> Void, depth: Int)
        case start
        case stop

        /// How many actions in a row, each in answer to the one before, have led to it.
        var depth: Int {
            switch self {
            case .reduce(_, let depth), .awaited(_, _, let depth), .result(_, let depth), .update(_, let depth): depth
            case .observe, .ignore, .tap, .untap, .start, .stop: 0
            }
        }
    }

    /// What the drainer works on.
    @usableFromInline
    struct Kept {
        @usableFromInline var state: State
        @usableFromInline var revision: UInt64 = 0
        @usableFromInline var observers = ListenerList<Change<State>>()
        /// How many of them are to be shown the old state.
        @usableFromInline var needingOldCount = 0
        /// Whether an action has nothing to pass but the reducer.
        @usableFromInline var isPlain = false
        var taps: [TapMoment: [Listener<TappedAction<State>>]] = [:]
        var isRunning = false
        var starts: UInt64 = 0
        @usableFromInline let hasMiddleware: Bool
        /// How many actions in a row, each in answer to the one before, have led to the current one.
        @usableFromInline var depth = 0
        /// How many requests have been answers since the last one from outside.
        @usableFromInline var answerCount = 0
        /// What was taken from the line and still waits.
        @usableFromInline var taken = TurnLine<Request>.Taken()

        init(state: State, hasMiddleware: Bool) {
            self.state = state
            self.hasMiddleware = hasMiddleware
        }

        @inlinable
        mutating func begin(atDepth depth: Int) {
            self.depth = depth
            if depth == 0 { answerCount = 0 }
        }

        mutating func settlePlainness() { isPlain = isRunning && !hasMiddleware && taps.isEmpty }
    }

    @inlinable
    func enter(_ request: Request) {
        guard line.join(request) else { return }
        take(request)
        if !line.leave() { drainOn() }
    }

    @inlinable
    func dispatchLater(_ action: any Action) {
        enter(.reduce(action, depth: depthOfNext { type(of: action).name }))
    }

    @inlinable
    func depthOfNext(_ name: () -> String) -> Int { line.isDrainedHere ? depthOfAnswer(name) : 0 }

    /// An action that answers the one whose turn it is.
    @usableFromInline
    func depthOfAnswer(_ name: () -> String) -> Int {
        let depth = kept.pointee.depth + 1
        kept.pointee.answerCount += 1
        if depth == Self.depthMax {
            misuse(.endlessDispatch(action: name(), depth: depth))
        } else if kept.pointee.answerCount == answersMax {
            misuse(.endlessDispatch(action: name(), depth: kept.pointee.answerCount))
        }
        return depth
    }

    /// So many actions may lead to each other, one by one.
    private static var depthMax: Int { 10_000 }

    /// Takes turns until nothing waits. After its share the dispatching thread hands the rest on.
    ///
    /// Never inlined, so that `dispatch` can be: its fast path does not call this.
    @inlinable
    @inline(never)
    func drainOn() {
        guard !drain(turnsMax: turnsInARowMax - 1, until: .now + .milliseconds(2)) else { return }
        handOn()
    }

    /// Hands the rest of the turns to another thread, until nothing waits.
    ///
    /// Inlinable, so that the turns run specialized for the state: unspecialized ones take three times as long.
    @inlinable
    func handOn() {
        line.pause()
        runOnThread {
            self.line.resume()
            _ = self.drain(turnsMax: .max, until: nil)
        }
    }

    /// Says whether nothing waits any more; draining has then ended.
    ///
    /// - Parameter deadline: when to stop, at the next multiple of eight turns: the clock costs as much as a turn.
    @inlinable
    func drain(turnsMax: Int, until deadline: ContinuousClock.Instant?) -> Bool {
        var turns = 0
        while turns < turnsMax {
            turns += 1
            if turns & 7 == 0, let deadline, .now > deadline { return false }
            while true {
                if let request = kept.pointee.taken.popFirst() {
                    take(request)
                    break
                }
                line.took(kept.pointee.taken.count)
                kept.pointee.taken.count = 0
                if line.leave() { return true }
                kept.pointee.taken = line.takeAll()
            }
        }
        return false
    }

    @inlinable
    func take(_ request: Request) {
        switch request {
        case .reduce(let action, let depth):
            kept.pointee.begin(atDepth: depth)
            take(action)
        default: takeOther(request)
        }
    }

    @usableFromInline
    func takeOther(_ request: Request) {
        kept.pointee.begin(atDepth: request.depth)
        switch request {
        case .reduce: break
        case .awaited(let action, let answer, _):
            answer(takeWithAnswer(action))
        case .result(let result, _):
            if result.isWanted, kept.pointee.isRunning { _ = takeWithAnswer(result.action) }
            result.settle()
        case .observe(let listener, let replay, let needsOld):
            // One that was cancelled while it waited is past its removal: it must not be listed any more.
            guard listener.isActive else { return }
            kept.pointee.observers.append(listener)
            if needsOld { kept.pointee.needingOldCount += 1 }
            if replay { listener.deliver(Change(replay: kept.pointee.state, revision: kept.pointee.revision)) }
        case .ignore(let listener, let needsOld):
            // One that was cancelled before its turn was never listed.
            if kept.pointee.observers.remove(listener), needsOld { kept.pointee.needingOldCount -= 1 }
        case .tap(let listener, let moment):
            guard listener.isActive else { return }
            kept.pointee.taps[moment, default: []].append(listener)
            kept.pointee.settlePlainness()
        case .untap(let listener):
            for (moment, listeners) in kept.pointee.taps {
                let left = listeners.filter { $0 !== listener }
                kept.pointee.taps[moment] = left.isEmpty ? nil : left
            }
            kept.pointee.settlePlainness()
        case .update(let change, _):
            updated(by: change)
        case .start: begin()
        case .stop: end()
        }
    }
}
