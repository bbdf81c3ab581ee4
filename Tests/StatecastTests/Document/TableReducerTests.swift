import Statecast
import StatecastCore
import Testing

@Suite struct `A reducer of a row` {
    private struct Board: Equatable, Sendable {
        var rows: Table<String, [Int]> = ["a": [1], "b": [2], "c": [3]]
    }

    private struct Add: Action {
        var row: String?
        var number = 7
    }

    private static let row = Reducer<[Int]>.withContext { row, action, context in
        guard let action = action as? Add else { return .none }
        row.append(action.number + Int(context.time.milliseconds))
        return .dispatch(Add(number: row.count))
    }

    private func reduce(_ action: Add, by reducer: Reducer<Board>) -> (Board, Effect) {
        var board = Board()
        let effect = reducer.reduce(into: &board, action, context: ActionContext(time: Timestamp(milliseconds: 10)))
        return (board, effect)
    }

    @Test func `A reducer of a row changes the row that the action names, with the context, and returns its effect`() {
        let reducer = Self.row.forEach(\Board.rows) { action in (action as? Add)?.row }
        let (board, effect) = reduce(Add(row: "b"), by: reducer)
        #expect(board.rows == ["a": [1], "b": [2, 17], "c": [3]])
        #expect(effect.workCount == 0 && !effect.isNone)
    }

    @Test(arguments: ["d", nil])
    func `A reducer of a row ignores actions that name no existing row`(name: String?) {
        let (board, effect) = reduce(Add(row: name), by: Self.row.forEach(\Board.rows) { ($0 as? Add)?.row })
        #expect(board == Board())
        #expect(effect.isNone)
    }

    @Test func `A reducer of a row changes the row in place`() {
        let addresses = Self.addresses(after: Add(row: "b"))
        #expect(addresses.before == addresses.after)
    }

    private static func addresses(after action: Add) -> (before: UnsafePointer<Int>?, after: UnsafePointer<Int>?) {
        var board = Board(rows: ["a": [], "b": Array(repeating: 0, count: 1_000)])
        board.rows["b"]?.reserveCapacity(2_000)
        let before = board.rows["b"]?.withUnsafeBufferPointer { $0.baseAddress }
        _ = row.forEach(\Board.rows) { ($0 as? Add)?.row }
            .reduce(into: &board, action, context: ActionContext(time: .epoch))
        return (before ?? nil, board.rows["b"]?.withUnsafeBufferPointer { $0.baseAddress } ?? nil)
    }

    @Test func `A reducer of a row changes all rows through their values`() {
        let (board, _) = reduce(Add(), by: Self.row.forEach(\Board.rows.values))
        #expect(board.rows == ["a": [1, 17], "b": [2, 17], "c": [3, 17]])
    }
}
