import Comparing
import Measuring
import StateCore

/// From a request, over the effect that answers it, until the answer was observed; one at a time.
///
/// The observer of one answer asks for the next, so that no thread has to be woken between two round trips.
func roundTrip() {
    compare(
        "effect round trip",
        [
            Subject("classic") {
                let store = ClassicStore(Correspondence()) { _ = Correspondence.reduce(&$0, $1) }
                let tally = Tally(goal: 5_000)
                // Without effects, an observer has to see from the state what there is to do.
                store.observe { [weak store] state in
                    if state.requests > state.answers {
                        Task { store?.dispatch(Answered()) }
                    } else if !tally.show(state.answers) {
                        store?.dispatch(AnswerRequested())
                    }
                }
                store.settle()
                return roundTrips(5_000, tally, store.dispatch)
            },
            Subject("core") {
                let core = Core(Correspondence(), reducer: Reducer(Correspondence.reduce))
                let tally = Tally(goal: 5_000)
                let subscription = core.observe(replay: false) { [weak core] change in
                    if change.new.requests == change.new.answers, !tally.show(change.new.answers) {
                        core?.dispatch(AnswerRequested())
                    }
                }
                defer { subscription.cancel() }
                return roundTrips(5_000, tally, core.dispatch)
            },
        ]
    )
}

private func roundTrips(_ count: Int, _ tally: Tally, _ dispatch: (any Action) -> Void) -> Cost {
    .each(of: count) {
        dispatch(AnswerRequested())
        tally.waitUntilReached()
    }
}

/// How often was asked, and how often answered.
private struct Correspondence: Sendable {
    var requests = 0
    var answers = 0

    static let reduce: @Sendable (inout Correspondence, any Action) -> Effect = { state, action in
        switch action {
        case is AnswerRequested:
            state.requests += 1
            return .run { send in await send(Answered()) }
        case is Answered:
            state.answers += 1
            return .none
        default:
            return .none
        }
    }
}

private struct AnswerRequested: Action {}
private struct Answered: Action {}
