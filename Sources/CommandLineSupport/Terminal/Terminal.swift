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

    /// Whether colours are welcome: unless the environment has `NO_COLOR`.
    package static var isColourWelcome: Bool {
        guard let word = getenv("NO_COLOR") else { return true }
        return word.pointee == 0
    }
}
