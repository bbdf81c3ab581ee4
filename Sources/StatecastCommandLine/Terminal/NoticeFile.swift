import StatecastFiles

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file whose first line is shown below a picture: another process tells the user something there without writing to
/// the terminal, which the picture owns.
package struct NoticeFile: Sendable {
    private static let maxBytes = 1024

    private let path: String

    package init(at path: String) { self.path = path }

    /// The first line; `nil` while there is no file or no complete line.
    func line() -> String? {
        guard let file = try? OpenFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY),
            let bytes = try? file.read(Self.maxBytes, at: 0), let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        return VisibleText.line(String(decoding: bytes[..<end], as: UTF8.self))
    }
}
