/// Those who are told of the changes of one state, in the order in which they came, and what they were told last.
///
/// A value of whoever tells them, one change at a time; each change begins where the one before ended, also where the
/// history does not go on: after a restart, or when a replica meets another lineage, the old state is the one shown last.
struct Audience<State: Sendable>: Sendable {
    /// A state that was shown, and its revision.
    private struct Shown {
        let state: State
        let revision: UInt64
    }

    private struct Seat {
        let observer: Listener<Change<State>>
        /// Whether the first state there is will be shown to it: it asked for the current one when there was none.
        let awaitsFirst: Bool
    }

    private var seats: [Seat] = []
    private var shown: Shown?

    /// Whether nobody is there.
    var isEmpty: Bool { seats.isEmpty }

    /// Lets an observer in, and shows it the current state if it wants that. One that was cancelled meanwhile stays
    /// outside: nobody would take it off the list again.
    mutating func join(_ observer: Listener<Change<State>>, replay: Bool) {
        guard observer.isActive else { return }
        seats.append(Seat(observer: observer, awaitsFirst: replay && shown == nil))
        if replay, let shown { observer.deliver(Change(replay: shown.state, revision: shown.revision)) }
    }

    mutating func leave(_ observer: Listener<Change<State>>) { seats.removeAll { $0.observer === observer } }

    /// Shows the next state. The first one is no change: only those who asked for a replay are told.
    mutating func show(_ state: State, revision: UInt64) {
        let old = shown
        shown = Shown(state: state, revision: revision)
        guard let old else {
            for seat in seats where seat.awaitsFirst {
                seat.observer.deliver(Change(replay: state, revision: revision))
            }
            return
        }
        let change = Change(old: old.state, oldRevision: old.revision, new: state, revision: revision, action: nil)
        for seat in seats { seat.observer.deliver(change) }
    }
}
