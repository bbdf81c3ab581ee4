/// A board as lines of text for a terminal.
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
/// A narrow screen shows fewer columns, a wide one all; no line is wider than the screen.
public struct BoardText: Sendable {
    /// Columns of the screen.
    public var columns: Int
    /// Machines to show at most; the others, of lower load, are counted in a line. Nil for all.
    public var rowsMax: Int?
    /// Whether to mark lines with ANSI colour codes.
    public var usesColour: Bool

    /// A board for a screen of so many columns, plain unless colour is asked for.
    public init(columns: Int = 80, rowsMax: Int? = nil, usesColour: Bool = false) {
        self.columns = columns
        self.rowsMax = rowsMax
        self.usesColour = usesColour
    }

    /// The whole board below a title, each line ended by a newline.
    public func text(of props: BoardProps, title: String) -> String {
        lines(of: props, title: title).map { $0 + "\n" }.joined()
    }

    /// The whole board below a title, line by line.
    public func lines(of props: BoardProps, title: String) -> [String] {
        var lines = [styled(clipped(printable(title)), .strong), clipped(props.totals.text), ""]
        lines += table(of: props.rows.prefix(max(0, rowsMax ?? .max)))
        let hidden = props.rows.count - max(0, rowsMax ?? .max)
        if hidden > 0 {
            lines.append(clipped("and \(hidden) more"))
        }
        if !props.notes.isEmpty {
            lines.append("")
            lines += props.notes.map { clipped($0.line) }
        }
        return lines
    }

    private func table(of rows: ArraySlice<BoardProps.Row>) -> [String] {
        let layout = layout(for: rows)
        let heading = layout.map { $0.column.heading.padded(to: $0.width, alignment: $0.column.alignment) }
        let body = rows.map { row in
            let cells = layout.map { $0.column.text(row).padded(to: $0.width, alignment: $0.column.alignment) }
            return styled(joined(cells), LineStyle(row))
        }
        return [styled(joined(heading), .strong)] + body
    }

    /// The columns that fit, with their widths. The last resort is to shorten the names.
    private func layout(for rows: ArraySlice<BoardProps.Row>) -> [(column: BoardColumn, width: Int)] {
        var layout = BoardColumn.all.map { (column: $0, width: $0.width(for: rows)) }
        while let excess = excess(of: layout), layout.count > 1 {
            // Names beyond a third of the screen give way before a whole column does.
            let spare = layout[0].width - max(layout[0].column.widthMin, columns / 3)
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
        usesColour ? style.code + line + LineStyle.reset : line
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
        return "\(HumanUnits.timeOfDay(time))  \(about)\(printable(text))"
    }
}
