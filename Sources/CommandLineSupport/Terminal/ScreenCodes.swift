/// What a terminal is told beside text. ECMA-48, and the private modes that xterm began and all others took over.
enum ScreenCodes {
    /// Another screen, which leaves what is there untouched; no cursor; long lines are cut instead of wrapped.
    static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    /// Everything as it was.
    static let leave = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// Draws over what is there instead of clearing it first, and lets the terminal show the result at once, so that
    /// nothing flickers.
    static func frame(_ lines: some Sequence<String>) -> String {
        beginUpdate + home + lines.map { $0 + clearLine }.joined(separator: "\r\n") + clearBelow + endUpdate
    }

    private static let home = "\u{1B}[H"
    private static let clearLine = "\u{1B}[K"
    private static let clearBelow = "\u{1B}[J"
    private static let beginUpdate = "\u{1B}[?2026h"
    private static let endUpdate = "\u{1B}[?2026l"
}
