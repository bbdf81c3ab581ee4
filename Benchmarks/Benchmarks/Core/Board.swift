import StateCore

/// A state with a part that is large and a part that is small.
struct Board: Equatable, Sendable {
    struct Row: Equatable, Sendable {
        var name: String
        var load = 0
    }

    var count = 0
    var table: [Int: Row]
    var list: [Row]

    /// - Parameter rows: how many rows the table and the list have each.
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

/// Changes one row, and the count too, so that an observer can tell how far it is.
struct RowLoadChanged: Action {
    let row: Int
}
