/// One column of the board's table.
struct BoardColumn {
    let heading: String
    let alignment: Alignment
    /// Room that it always takes, so that the table does not jump as numbers change.
    let widthMin: Int
    /// On a narrow screen the least important columns go first.
    let importance: Int
    let text: @Sendable (BoardProps.Row) -> String

    func width(for rows: ArraySlice<BoardProps.Row>) -> Int {
        rows.reduce(max(widthMin, heading.displayWidth)) { max($0, text($1).displayWidth) }
    }
}

extension BoardColumn {
    /// From left to right.
    static let all: [BoardColumn] = [
        BoardColumn(heading: "HOST", alignment: .left, widthMin: 8, importance: .max) { printable($0.name) },
        BoardColumn(heading: "STATE", alignment: .left, widthMin: 10, importance: 8) { $0.freshness.text },
        BoardColumn(heading: "LOAD", alignment: .right, widthMin: 5, importance: 7) { load($0.sample.load1) },
        BoardColumn(heading: "5M", alignment: .right, widthMin: 5, importance: 2) { load($0.sample.load5) },
        BoardColumn(heading: "15M", alignment: .right, widthMin: 5, importance: 1) { load($0.sample.load15) },
        BoardColumn(heading: "CPU", alignment: .left, widthMin: 13, importance: 6) { gauge($0.busy) },
        BoardColumn(heading: "MEMORY", alignment: .left, widthMin: 26, importance: 5) { row in
            gauge(row.sample.memoryInUse, of: row.sample.memoryTotalBytes)
        },
        BoardColumn(heading: "DISK", alignment: .left, widthMin: 26, importance: 3) { row in
            gauge(row.sample.diskInUse, of: row.sample.diskTotalBytes)
        },
        BoardColumn(heading: "UP", alignment: .right, widthMin: 8, importance: 4) { row in
            HumanUnits.duration(seconds: row.sample.uptimeSeconds)
        },
    ]

    private static func load(_ value: Double) -> String {
        HumanUnits.fixed(value, decimals: 2)
    }

    private static func gauge(_ share: Double?) -> String {
        guard let share else { return "-" }
        return HumanUnits.bar(share, width: 8) + HumanUnits.percent(share).padded(to: 5, alignment: .right)
    }

    private static func gauge(_ share: Double?, of bytes: Int) -> String {
        share == nil ? "-" : gauge(share) + " of " + HumanUnits.bytes(bytes)
    }
}

extension BoardProps.Freshness {
    fileprivate var text: String {
        switch self {
        case .fresh: "fresh"
        case .silent(let silence): "silent " + HumanUnits.duration(seconds: Double(silence.components.seconds))
        case .retired: "retired"
        }
    }
}
