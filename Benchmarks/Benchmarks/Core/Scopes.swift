import Comparing
import Measuring
import StateCore

/// Observers of parts that do not change, beside one that counts: what they cost must not grow with the state.
func scopes() {
    // Made once; the samples share it.
    let boards = [100, 100_000].map { (rows: $0, board: Board(rows: $0)) }
    for unaffected in [0, 1, 10, 100, 1_000] {
        let actions = 100_000 / (unaffected + 5)
        var subjects: [Subject] = []
        for (rows, board) in boards {
            subjects.append(
                Subject("classic, \(rows) rows") { classic(board, unaffected: unaffected, actions: actions) }
            )
            subjects.append(
                Subject("core, \(rows) rows") { scoped(board, unaffected: unaffected, actions: actions) }
            )
        }
        compare("\(unaffected) unaffected scopes", duration: .seconds(2), subjects)
    }
}

private func scoped(_ board: Board, unaffected: Int, actions: Int) -> Cost {
    let core = Core(board, reducer: Reducer(Board.reduce))
    let tally = Tally(goal: actions)
    let subscriptions = (0..<unaffected).map { index in
        index.isMultiple(of: 2)
            ? core.scope(\.table).observe(replay: false) { _ in preconditionFailure("the table did not change") }
            : core.scope(\.list).observe(replay: false) { _ in preconditionFailure("the list did not change") }
    }
    let counting = core.observe(replay: false) { tally.show($0.new.count) }
    defer { for subscription in subscriptions + [counting] { subscription.cancel() } }
    return .each(of: actions) {
        increase(actions, core.dispatch)
        tally.waitUntilReached()
    }
}

private func classic(_ board: Board, unaffected: Int, actions: Int) -> Cost {
    let store = ClassicStore(board, reduce: Board.reduce)
    let tally = Tally(goal: actions)
    for index in 0..<unaffected {
        if index.isMultiple(of: 2) {
            store.observe(Slice(of: board, \.table).check)
        } else {
            store.observe(Slice(of: board, \.list).check)
        }
    }
    store.observe { tally.show($0.count) }
    store.settle()
    return .each(of: actions) {
        increase(actions, store.dispatch)
        tally.waitUntilReached()
    }
}

/// How a component of a classic store finds out that nothing changed for it: it maps and compares.
private final class Slice<Part: Equatable & Sendable>: Sendable {
    private let path: any KeyPath<Board, Part> & Sendable
    // Touched on the store's queue alone.
    nonisolated(unsafe) private var last: Part

    init(of board: Board, _ path: any KeyPath<Board, Part> & Sendable) {
        self.path = path
        last = board[keyPath: path]
    }

    @Sendable func check(_ board: Board) {
        let part = board[keyPath: path]
        if part != last {
            last = part
            preconditionFailure("no part but the count was to change")
        }
    }
}

private func increase(_ times: Int, _ dispatch: (any Action) -> Void) {
    for _ in 0..<times {
        dispatch(CounterIncreaseRequested())
    }
}
