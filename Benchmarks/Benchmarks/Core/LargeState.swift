import Comparing
import Measuring
import StatecastCore

/// A state with large parts and a small one.
struct Board: Equatable, Sendable {
    struct Row: Equatable, Sendable {
        var name: String
        var load = 0
    }

    var count = 0
    var table: [Int: Row]
    var list: [Row]

    /// - Parameter rows: the number of rows of the table and of the list.
    init(rows: Int) {
        list = (0..<rows).map { Row(name: "row \($0)") }
        table = Dictionary(uniqueKeysWithValues: list.enumerated().map { ($0.offset, $0.element) })
    }

    static let reduce: @Sendable (inout Board, any Action) -> Void = { board, action in
        switch action {
        case is CounterIncreaseRequested:
            board.count += 1
        case let action as RowLoadChanged:
            board.table[action.row]?.load += 1
            board.count += 1
        default: break
        }
    }
}

/// Changes one row, and the count, by which an observer sees the progress.
struct RowLoadChanged: Action {
    let row: Int
}

/// A reducer that changes one row of 100,000. Only an observer of both the old and the new state may cause a copy of
/// the table.
func largeState() {
    let board = Board(rows: 100_000)
    compare(
        "1 row of 100,000, changed in place",
        [
            Subject("classic, 1 observer") {
                changingRows(20_000, classic: ClassicStore(board, reduce: Board.reduce))
            },
            Subject("core, no observer") {
                let core = Core(board, reducer: Reducer(Board.reduce))
                core.dispatch(RowLoadChanged(row: 0))
                return .each(of: 20_000) { changeRows(20_000, core.dispatch) }
            },
        ]
    )
    compare(
        "1 row of 100,000, table copied",
        [
            // The usual form of a reducer in a classic store: it returns the next state.
            Subject("classic, 1 observer") {
                changingRows(5, classic: ClassicStore(board) { board, action in board = board.reduced(by: action) })
            },
            Subject("core, 1 observer") {
                let core = Core(board, reducer: Reducer(Board.reduce))
                core.dispatch(RowLoadChanged(row: 0))
                let tally = Tally(goal: 6)
                core.observe(replay: .none) { tally.show($0.new.count) }.detach()
                return .each(of: 5) {
                    changeRows(5, core.dispatch)
                    tally.waitUntilReached()
                }
            },
            Subject("core, 1 scope that does not change") {
                let core = Core(board, reducer: Reducer(Board.reduce))
                core.dispatch(RowLoadChanged(row: 0))
                let list = core.scope(\.list).observe(replay: .none) { _ in
                    preconditionFailure("the list did not change")
                }
                defer { list.cancel() }
                return .each(of: 5) { changeRows(5, core.dispatch) }
            },
        ]
    )
}

private func changingRows(_ actions: Int, classic store: ClassicStore<Board>) -> Cost {
    // The first change copies the table that all samples share.
    store.dispatch(RowLoadChanged(row: 0))
    store.drain()
    let tally = Tally(goal: actions + 1)
    store.observe { tally.show($0.count) }
    return .each(of: actions) {
        changeRows(actions, store.dispatch)
        tally.waitUntilReached()
    }
}

private func changeRows(_ actions: Int, _ dispatch: (any Action) -> Void) {
    for row in 0..<actions {
        dispatch(RowLoadChanged(row: row))
    }
}

extension Board {
    /// Not inlined: the optimizer would change the state in place.
    @inline(never)
    fileprivate func reduced(by action: any Action) -> Board {
        var next = self
        Board.reduce(&next, action)
        return next
    }
}

/// Observers of unchanged parts, and one of the count: their cost must not grow with the state.
func scopes() {
    // The samples share the boards.
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
            ? core.scope(\.table).observe(replay: .none) { _ in preconditionFailure("the table did not change") }
            : core.scope(\.list).observe(replay: .none) { _ in preconditionFailure("the list did not change") }
    }
    let counting = core.observe(replay: .none) { tally.show($0.new.count) }
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
    store.drain()
    return .each(of: actions) {
        increase(actions, store.dispatch)
        tally.waitUntilReached()
    }
}

/// A component of a classic store, which maps and compares each state to detect changes of its part.
private final class Slice<Part: Equatable & Sendable>: Sendable {
    private let path: any KeyPath<Board, Part> & Sendable
    // Accessed on the store's queue alone.
    nonisolated(unsafe) private var last: Part

    init(of board: Board, _ path: any KeyPath<Board, Part> & Sendable) {
        self.path = path
        last = board[keyPath: path]
    }

    @Sendable func check(_ board: Board) {
        let part = board[keyPath: path]
        if part != last {
            last = part
            preconditionFailure("only the count may change")
        }
    }
}

private func increase(_ times: Int, _ dispatch: (any Action) -> Void) {
    for _ in 0..<times {
        dispatch(CounterIncreaseRequested())
    }
}
