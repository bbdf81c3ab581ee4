import StatecastCore
import StatecastTerminal

/// Renders a board as lines of text for a terminal.
///
/// ```text
/// fleet on primary tcp://10.0.0.1:5555, live
/// 2 machines: 1 fresh, 1 silent, 0 retired; 1284 samples, 0 ignored
///
/// HOST      STATE        LOAD  CPU            MEMORY                            UP
/// web-1     fresh        3.20  ██████░░  77%  ███░░░░░  38% of 8.0 GiB       1d 0h
/// db-1      silent 42s   0.42  ░░░░░░░░   2%  ████░░░░  51% of 15.6 GiB     12d 7h
/// ```
///
/// A narrow screen shows fewer columns; no line is wider than the screen.
package struct BoardText: Sendable {
    /// How lines stand out.
    package enum Styling: Sendable {
        case plain
        /// By ANSI colour codes.
        case colour
    }

    /// A line of the board.
    package struct Line: Equatable, Sendable {
        package let text: String
        /// The host that the line is about, if it is a row of the table.
        package let host: String?
    }

    private let columns: Int
    private let first: Int
    private let maxRows: Int?
    private let styling: Styling

    /// - Parameters:
    ///   - columns: the width of the screen.
    ///   - first: the first host to show.
    ///   - maxRows: the most hosts; a line counts the others, which have lower loads. `nil`: all.
    package init(columns: Int = 80, first: Int = 0, maxRows: Int? = nil, styling: Styling = .plain) {
        self.columns = columns
        self.first = max(0, first)
        self.maxRows = maxRows.map { max(0, $0) }
        self.styling = styling
    }

    /// The board below a title, as text.
    package func text(of props: BoardProps, title: String) -> String {
        lines(of: props, title: title).map { $0.text + "\n" }.joined()
    }

    /// The board below a title, line by line.
    package func lines(of props: BoardProps, title: String) -> [Line] {
        let shown = props.rows.dropFirst(first).prefix(maxRows ?? .max)
        var lines = [styled(clipped(printable(title)), .strong), clipped(props.totals.text), ""].map(Self.line)
        lines += table(of: shown)
        let hidden = props.rows.count - shown.endIndex
        if hidden > 0 {
            lines.append(Self.line(clipped("and \(hidden) more")))
        }
        if !props.notes.isEmpty {
            lines.append(Self.line(""))
            lines += props.notes.map { Self.line(clipped($0.line)) }
        }
        return lines
    }

    private static func line(_ text: String) -> Line { Line(text: text, host: nil) }

    private func table(of rows: ArraySlice<BoardProps.Row>) -> [Line] {
        let layout = layout(for: rows)
        let heading = layout.map { $0.column.heading.padded(to: $0.width, alignment: $0.column.alignment) }
        let body = rows.map { row in
            let cells = layout.map { $0.column.text(row).padded(to: $0.width, alignment: $0.column.alignment) }
            return Line(text: styled(joined(cells), LineStyle(row)), host: row.name)
        }
        return [Self.line(styled(joined(heading), .strong))] + body
    }

    /// The columns that fit, with their widths.
    private func layout(for rows: ArraySlice<BoardProps.Row>) -> [(column: BoardColumn, width: Int)] {
        var layout = BoardColumn.all.map { (column: $0, width: $0.width(for: rows)) }
        while let excess = excess(of: layout), layout.count > 1 {
            // Shortens names beyond a third of the screen before it drops a column.
            let spare = layout[0].width - max(layout[0].column.minWidth, columns / 3)
            if spare > 0 {
                layout[0].width -= min(spare, excess)
            } else {
                let least = layout.map(\.column.importance).min()
                layout.removeAll { $0.column.importance == least }
            }
        }
        layout[0].width = min(layout[0].width, max(0, columns))
        return layout
    }

    private func excess(of layout: [(column: BoardColumn, width: Int)]) -> Int? {
        let width = layout.reduce(0) { $0 + $1.width } + (layout.count - 1) * Self.gap.count
        return width > columns ? width - columns : nil
    }

    private func joined(_ cells: [String]) -> String {
        let line = cells.joined(separator: Self.gap)
        return String(line.reversed().drop { $0 == " " }.reversed())
    }

    private func clipped(_ line: String) -> String {
        line.clipped(to: columns)
    }

    private func styled(_ line: String, _ style: LineStyle) -> String {
        styling == .colour ? style.code + line + LineStyle.reset : line
    }

    private static let gap = "  "
}

extension BoardProps.Totals {
    fileprivate var text: String {
        let machines = fresh + silent + retired
        return "\(machines) machines: \(fresh) fresh, \(silent) silent, \(retired) retired; "
            + "\(samples) samples, \(ignored) ignored"
    }
}

extension Note {
    fileprivate var line: String {
        let about = host.map { "\(printable($0)): " } ?? ""
        return "\(HumanUnits.timeOfDay(milliseconds: time.milliseconds))  \(about)\(printable(text))"
    }
}

/// A column of the board's table.
private struct BoardColumn {
    let heading: String
    let alignment: Alignment
    /// A fixed minimum, so that the table does not jump as numbers change.
    let minWidth: Int
    /// A narrow screen drops the least important columns first.
    let importance: Int
    let text: @Sendable (BoardProps.Row) -> String

    func width(for rows: ArraySlice<BoardProps.Row>) -> Int {
        rows.reduce(max(minWidth, heading.displayWidth)) { max($0, text($1).displayWidth) }
    }

    /// From left to right.
    static let all: [BoardColumn] = [
        BoardColumn(heading: "HOST", alignment: .left, minWidth: 8, importance: .max) { printable($0.name) },
        BoardColumn(heading: "STATE", alignment: .left, minWidth: 10, importance: 8) { $0.freshness.text },
        BoardColumn(heading: "LOAD", alignment: .right, minWidth: 5, importance: 7) { load($0.sample.load1) },
        BoardColumn(heading: "5M", alignment: .right, minWidth: 5, importance: 2) { load($0.sample.load5) },
        BoardColumn(heading: "15M", alignment: .right, minWidth: 5, importance: 1) { load($0.sample.load15) },
        BoardColumn(heading: "CPU", alignment: .left, minWidth: 13, importance: 6) { gauge($0.busy) },
        BoardColumn(heading: "MEMORY", alignment: .left, minWidth: 26, importance: 5) { row in
            gauge(row.sample.memoryInUse, of: row.sample.memoryTotalBytes)
        },
        BoardColumn(heading: "DISK", alignment: .left, minWidth: 26, importance: 3) { row in
            gauge(row.sample.diskInUse, of: row.sample.diskTotalBytes)
        },
        BoardColumn(heading: "UP", alignment: .right, minWidth: 8, importance: 4) { row in
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
        case .silent(nil): "silent"
        case .silent(let silence?): "silent " + HumanUnits.duration(seconds: Double(silence.components.seconds))
        case .retired: "retired"
        }
    }
}

/// The style of a line in colour. ECMA-48, section 8.3.117 (SGR).
private enum LineStyle {
    case plain, strong, faint, warning, alarm

    /// Faint for a retired host, alarm for a silent one, warning for a load above the number of processors.
    init(_ row: BoardProps.Row) {
        self =
            switch row.freshness {
            case .retired: .faint
            case .silent: .alarm
            case .fresh: row.sample.load1 > Double(row.sample.cpuCount) ? .warning : .plain
            }
    }

    var code: String {
        switch self {
        case .plain: Self.reset
        case .strong: "\u{1B}[1m"
        case .faint: "\u{1B}[2m"
        case .warning: "\u{1B}[33m"
        case .alarm: "\u{1B}[31m"
        }
    }

    static let reset = "\u{1B}[0m"
}
