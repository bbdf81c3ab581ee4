#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A key that a ``LivePicture`` obeys.
enum PictureKey: Equatable, Sendable {
    case up, down, pageUp, pageDown, home, end, quit
    /// A character that may be one of the picture's own.
    case other(Character)

    /// The keys that input of a terminal consists of. Other control sequences are skipped.
    static func keys(in bytes: [UInt8]) -> [PictureKey] {
        var (keys, rest) = ([PictureKey](), bytes[...])
        while let first = rest.first {
            if let (code, key) = codes.first(where: { rest.starts(with: $0.code) }) {
                keys.append(key)
                rest = rest.dropFirst(code.count)
            } else if rest.starts(with: [0x1B, UInt8(ascii: "[")]) {
                // Another control sequence ends with a letter or a tilde (ECMA-48, section 5.4).
                rest = rest.dropFirst(2).drop { !(0x40...0x7E).contains($0) }.dropFirst()
            } else {
                if (0x21...0x7E).contains(first) { keys.append(.other(Character(Unicode.Scalar(first)))) }
                rest = rest.dropFirst(first == 0x1B ? 2 : 1)
            }
        }
        return keys
    }

    /// For the last line of a picture.
    static let help = "Up Down PgUp PgDn Home End scroll, q quits"

    private static let codes: [(code: [UInt8], key: PictureKey)] = [
        ("\u{1B}[A", up), ("\u{1B}OA", up), ("k", up), ("\u{1B}[B", down), ("\u{1B}OB", down), ("j", down),
        ("\u{1B}[5~", pageUp), ("b", pageUp), ("\u{1B}[6~", pageDown), (" ", pageDown), ("\u{1B}[H", home),
        ("\u{1B}OH", home), ("\u{1B}[1~", home), ("g", home), ("\u{1B}[F", end), ("\u{1B}OF", end), ("\u{1B}[4~", end),
        ("G", end), ("q", quit),
    ].map { (code: String, key: PictureKey) in (Array(code.utf8), key) }
}

/// The mode of standard input in which each key arrives at once, and is not shown.
struct KeyMode: Sendable {
    private let lineMode: termios

    /// Enters the mode; `nil` if standard input is no terminal, or the process is in its background.
    init?() {
        var mode = termios()
        guard !StandardStreams.isClosed(STDIN_FILENO), tcgetattr(STDIN_FILENO, &mode) == 0 else { return nil }
        lineMode = mode
        guard resume() else { return nil }
    }

    /// Enters the mode again, after the shell has used the terminal.
    @discardableResult
    func resume() -> Bool {
        var mode = lineMode
        // Signals of keys such as Ctrl-C stay on.
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
        return Self.set(mode)
    }

    /// Restores the mode that the terminal had.
    func leave() { _ = Self.set(lineMode) }

    /// In the background, the mode belongs to the shell. The system would not stop the process, as it stops others,
    /// because threads of Dispatch block signals.
    private static func set(_ mode: termios) -> Bool {
        var mode = mode
        return !Terminal.isInBackground && tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0
    }
}
