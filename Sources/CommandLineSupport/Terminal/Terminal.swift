#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Columns and rows of a terminal.
package struct TerminalSize: Hashable, Sendable {
    /// Characters in a line.
    package var columns: Int
    /// Lines.
    package var rows: Int
}

/// What the process knows of its terminal.
package enum Terminal {
    /// The two ways out.
    package enum Output: Sendable {
        case standard, error

        fileprivate var descriptor: Int32 {
            switch self {
            case .standard: STDOUT_FILENO
            case .error: STDERR_FILENO
            }
        }
    }

    /// Whether somebody looks at it.
    package static func isTerminal(_ output: Output) -> Bool { isatty(output.descriptor) == 1 }

    /// How large it is now; 80 by 24 if it does not say.
    static var size: TerminalSize {
        var size = winsize()
        let hasSize = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        return hasSize
            ? TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row)) : TerminalSize(columns: 80, rows: 24)
    }

    /// Whether it obeys escape sequences: unless `TERM` is `dumb` or says nothing.
    package static var isControllable: Bool { isControllable(environment("TERM")) }

    static func isControllable(_ term: String?) -> Bool { term != nil && term != "dumb" }

    /// Whether colours are welcome: unless the environment has `NO_COLOR`, or it obeys no escape sequences.
    package static var isColourWelcome: Bool { isControllable && environment("NO_COLOR") == nil }

    /// Whether it shows characters beyond ASCII: the first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set names UTF-8.
    static var showsUnicode: Bool { showsUnicode(["LC_ALL", "LC_CTYPE", "LANG"].map(environment)) }

    static func showsUnicode(_ locales: [String?]) -> Bool {
        guard let locale = locales.compactMap(\.self).first?.uppercased() else { return false }
        return locale.contains("UTF-8") || locale.contains("UTF8")
    }

    /// A variable that is set and not empty.
    private static func environment(_ name: String) -> String? {
        guard let text = getenv(name), text.pointee != 0 else { return nil }
        return String(cString: text)
    }
}
