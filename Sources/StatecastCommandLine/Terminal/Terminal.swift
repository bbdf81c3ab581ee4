#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The process's terminal.
package enum Terminal {
    package enum Output: Sendable {
        case standard, error

        fileprivate var descriptor: Int32 {
            switch self {
            case .standard: STDOUT_FILENO
            case .error: STDERR_FILENO
            }
        }
    }

    package static func isTerminal(_ output: Output) -> Bool { isatty(output.descriptor) == 1 }

    /// Whether the shell, or another job of it, uses the terminal that controls the process.
    static var isInBackground: Bool {
        let groups = [STDIN_FILENO, STDOUT_FILENO].map(tcgetpgrp)
        return groups.contains { $0 >= 0 && $0 != getpgrp() }
    }

    /// The current size; 80 by 24 if the terminal does not report it.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        let hasSize = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        return hasSize ? (columns: Int(size.ws_col), rows: Int(size.ws_row)) : (columns: 80, rows: 24)
    }

    /// Whether the terminal interprets escape sequences: `TERM` is set, and not `dumb`.
    package static var isControllable: Bool { isControllable(environment("TERM")) }

    static func isControllable(_ term: String?) -> Bool { term != nil && term != "dumb" }

    /// Whether to use colour: the terminal is controllable, and the environment has no `NO_COLOR`.
    package static var showsColour: Bool { isControllable && environment("NO_COLOR") == nil }

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

/// Escape sequences: ECMA-48, and xterm's private modes, which other terminals adopted.
enum ScreenCodes {
    /// Switches to the alternate screen, hides the cursor and turns off line wrapping.
    static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    /// Reverts ``enter``.
    static let leave = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// Overwrites the screen without clearing it first, as one synchronized update, so that nothing flickers.
    static func frame(_ lines: some Sequence<String>) -> String {
        beginUpdate + home + lines.map { $0 + clearLine }.joined(separator: "\r\n") + clearBelow + endUpdate
    }

    private static let home = "\u{1B}[H"
    private static let clearLine = "\u{1B}[K"
    private static let clearBelow = "\u{1B}[J"
    private static let beginUpdate = "\u{1B}[?2026h"
    private static let endUpdate = "\u{1B}[?2026l"
}
