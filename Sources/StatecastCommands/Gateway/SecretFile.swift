import Statecast
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

    private static let bytes = 16...4096

    /// Reads the secret, or makes one.
    ///
    /// - Throws: ``CommandFailure``.
    func text() throws -> String {
        let isPresent = access(path, F_OK) == 0 || errno != ENOENT
        do { return isPresent ? try read() : try make() } catch let failure as SystemFailure {
            throw refused(failure.reason)
        } catch let error as StatecastError { throw CommandFailure.wrongUsage(error.message) }
    }

    private func read() throws -> String {
        let file = try CheckedFile(
            readingFileAt: path,
            "secret file",
            maxBytes: Self.bytes.upperBound + 1,
            forbidden: { _ in 0o077 },
            advice: "run chmod 600 on it"
        )
        let text = String(validating: file.bytes, as: UTF8.self)?.split(whereSeparator: \.isWhitespace) ?? []
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
        .wrongUsage("the secret file \(path) is not used: \(reason)")
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
