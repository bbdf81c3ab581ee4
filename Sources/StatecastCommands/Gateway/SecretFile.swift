import StatecastCommandLine
import StatecastFiles

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file with a secret text, which only its user can read. It is made with a random text where it does not exist.
struct SecretFile {
    let path: String
    /// The names of the setting, for messages.
    let setting: SettingKey

    private static let bytes = 16...4096

    /// Reads the secret, or makes one.
    ///
    /// - Throws: ``CommandFailure``.
    func text() throws -> String {
        do { return try isPresent() ? read() : make() } catch let failure as SystemFailure {
            throw refused(failure.reason)
        }
    }

    private func isPresent() -> Bool { access(path, F_OK) == 0 || errno != ENOENT }

    private func read() throws -> String {
        let file = try OpenFile(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
        guard let status = FileStatus(file), status.isRegular else { throw refused("it is not a file") }
        guard status.permissions & 0o077 == 0 else { throw refused("others can read it: chmod 600 \(path)") }
        let content = String(validating: try file.read(Self.bytes.upperBound + 1, at: 0), as: UTF8.self)
        let text = content?.split(whereSeparator: \.isWhitespace) ?? []
        guard text.count == 1, Self.bytes.contains(text[0].utf8.count) else {
            throw refused("expected one word of \(Self.bytes.lowerBound) to \(Self.bytes.upperBound) bytes")
        }
        return String(text[0])
    }

    private func make() throws(SystemFailure) -> String {
        let text = Self.random()
        let file = try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL)
        try file.write(Array((text + "\n").utf8)[...], at: 0)
        try file.sync()
        return text
    }

    private func refused(_ reason: String) -> CommandFailure {
        .wrongUsage("the file \(path) of \(setting.places) is not used: \(reason)")
    }

    /// 192 random bits, as 48 hexadecimal digits.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<24).map { _ in
            let digits = String(UInt8.random(in: 0...255, using: &generator), radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
