import Comparing
import Measuring
import StatecastCore

/// From a request, through the effect that answers it, until the answer is observed; one at a time.
///
/// The observer of an answer dispatches the next request, so that no thread wakes up between two round trips.
func roundTrip() {
    compare(
        "effect round trip",
        [
            Subject("classic") {
                let store = ClassicStore(Correspondence()) { _ = Correspondence.reduce(&$0, $1) }
                let tally = Tally(goal: 5_000)
                // Without effects, an observer derives the work from the state.
                store.observe { [weak store] state in
                    if state.requests > state.answers {
                        Task { store?.dispatch(Answered()) }
                    } else if !tally.show(state.answers) {
                        store?.dispatch(AnswerRequested())
                    }
                }
                store.drain()
                return roundTrips(5_000, tally, store.dispatch)
            },
            Subject("core") {
                let core = Core(Correspondence(), reducer: Reducer(Correspondence.reduce))
                let tally = Tally(goal: 5_000)
                let subscription = core.observe(replay: .none) { [weak core] change in
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

/// Counts requests and answers.
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
