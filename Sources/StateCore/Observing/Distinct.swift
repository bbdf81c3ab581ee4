internal import Locking

/// A source without the changes that make no difference to what was told last.
struct Distinct<Source: StateSource>: StateSource {
    let source: Source
    let areEqual: @Sendable (Source.State, Source.State) -> Bool

    func observe(replay: Bool, _ body: @escaping @Sendable (Change<Source.State>) -> Void) -> Subscription {
        let told = Locked<Source.State?>(nil)
        return source.observe(replay: replay) { [areEqual] change in
            // Without the lock: an equality is other people's code. The source calls one at a time.
            let last = told.withLock { $0 } ?? change.old
            let isTold = change.old == nil || !(last.map { areEqual($0, change.new) } ?? false)
            // Nothing ends with the lock held: `last` keeps what is replaced.
            told.withLock { $0 = isTold ? change.new : last }
            if isTold { body(change.since(last)) }
            withExtendedLifetime(last) {}
        }
    }
}

extension Change {
    /// The same step, told to those who were last told of `told`; a replay stays one.
    fileprivate func since(_ told: State?) -> Change {
        guard old != nil else { return self }
        return Change(old: told, oldRevision: oldRevision, new: new, revision: revision, action: action)
    }
}
