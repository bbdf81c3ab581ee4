/// How a line stands out on a terminal with colour. ECMA-48, section 8.3.117 (SGR).
enum LineStyle {
    case plain, strong, faint, warning, alarm

    /// Retired is faint, silent warns, and so does more load than processors.
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
