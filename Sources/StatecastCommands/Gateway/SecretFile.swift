import StatecastCommandLine
import StatecastFiles
import StatecastThreading

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file with a random text that only its user can read; it is made where it does not exist.
enum SecretFile {
    private static let maxBytes = 4096

    /// Reads a secret, or makes one.
    ///
    /// - Throws: ``CommandFailure``.
    static func text(at path: String, setting: SettingKey) throws -> String {
        do throws(SystemFailure) {
            let file = try OpenFile(path, O_RDWR | O_CREAT | O_NOCTTY)
            guard let status = FileStatus(file), status.isRegular, status.permissions & 0o077 == 0 else {
                throw SystemFailure("read", path, EACCES)
            }
            let bytes = try file.read(maxBytes, at: 0)
            if let text = String(validating: bytes, as: UTF8.self), case let text = trimmed(text), !text.isEmpty {
                guard text.utf8.count >= 16 else {
                    throw SystemFailure("use a text of at least 16 characters in", path, EINVAL)
                }
                return text
            }
            let text = random()
            try file.write(Array((text + "\n").utf8)[...], at: 0)
            try file.sync()
            return text
        } catch {
            throw CommandFailure.failed(
                "the file \(path) of \(setting.rawValue) cannot be used: \(error.reason); it must be a file that only "
                    + "this user can read"
            )
        }
    }

    /// 192 random bits, as 48 hexadecimal digits.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<24).map { _ in
            let digits = String(UInt8.random(in: 0...255, using: &generator), radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    private static func trimmed(_ text: String) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
