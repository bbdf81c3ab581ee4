#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A file that is being written beside a session file, to replace it: `.NAME.0123456789abcdef.draft`.
///
/// Its name is one that nothing else has. Only whoever has locked the session file makes or removes its drafts.
struct SessionDraft {
    let descriptor: Int32
    let path: String

    /// `nil` if the system says no; see `errno`.
    init?(beside path: String) {
        let (folder, name) = Self.parts(of: path)
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        let digits = String(repeating: "0", count: Self.digitCount - number.count) + number
        self.path = folder + Self.prefix(name) + digits + Self.suffix
        descriptor = open(self.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
    }

    /// Removes what a process left that ended while it wrote one.
    static func removeLeftovers(beside path: String) {
        let (folder, name) = parts(of: path)
        // A folder that cannot be listed keeps them: they are in nobody's way.
        guard let listing = opendir(folder) else { return }
        defer { closedir(listing) }
        let (prefix, digits) = (prefix(name), Set("0123456789abcdef"))
        while let entry = readdir(listing) {
            let other = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            guard other.hasPrefix(prefix), other.hasSuffix(suffix) else { continue }
            let number = other.dropFirst(prefix.count).dropLast(suffix.count)
            if number.count == digitCount, number.allSatisfy(digits.contains) { unlink(folder + other) }
        }
    }

    private static let digitCount = 16
    private static let suffix = ".draft"
    private static func prefix(_ name: String) -> String { ".\(name)." }

    /// The folder, with its slash, and the name in it.
    private static func parts(of path: String) -> (folder: String, name: String) {
        let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        return (String(path[..<start]), String(path[start...]))
    }
}
