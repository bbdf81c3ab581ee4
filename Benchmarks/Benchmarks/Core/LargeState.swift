import Comparing
import Measuring
import StateCore

/// A reducer that changes one row of 100,000.
///
/// Whoever is shown both the old and the new state makes the table be copied; nobody else should.
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
            // As the reducer of a classic store is mostly written: it returns the next state.
            Subject("classic, 1 observer") {
                changingRows(5, classic: ClassicStore(board) { board, action in board = board.reduced(by: action) })
            },
            Subject("core, 1 observer") {
                let core = Core(board, reducer: Reducer(Board.reduce))
                core.dispatch(RowLoadChanged(row: 0))
                let tally = Tally(goal: 6)
                core.observe(replay: false) { tally.show($0.new.count) }.detach()
                return .each(of: 5) {
                    changeRows(5, core.dispatch)
                    tally.waitUntilReached()
                }
            },
            Subject("core, 1 scope that does not change") {
                let core = Core(board, reducer: Reducer(Board.reduce))
                core.dispatch(RowLoadChanged(row: 0))
                let list = core.scope(\.list).observe(replay: false) { _ in
                    preconditionFailure("the list did not change")
                }
                defer { list.cancel() }
                return .each(of: 5) { changeRows(5, core.dispatch) }
            },
        ]
    )
}

private func changingRows(_ actions: Int, classic store: ClassicStore<Board>) -> Cost {
    // The first change copies the table away from the one that all samples start with.
    store.dispatch(RowLoadChanged(row: 0))
    store.settle()
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
    /// Not inlined, or the optimizer would see through it, and change the state in place.
    @inline(never)
    fileprivate func reduced(by action: any Action) -> Board {
        var next = self
        Board.reduce(&next, action)
        return next
    }
}
