import StatecastCoding
import StatecastJSON

/// JSON that a person or another program wrote.
enum JSONInput {
    /// Reads JSON in UTF-8, with or without a byte order mark.
    ///
    /// - Throws: as `JSON.value(parsing:)`; the message names UTF-16 and UTF-32, in which some programs write files.
    static func value(parsing bytes: some Collection<UInt8>) throws(CodingFailure) -> Value {
        do { return try JSON.value(parsing: Array(Array(bytes).withoutByteOrderMark)) } catch {
            guard let encoding = encoding(of: bytes) else { throw error }
            throw CodingFailure(
                .invalidText,
                "expected UTF-8, got \(encoding): convert it, as with iconv -f \(encoding) -t UTF-8"
            )
        }
    }

    /// The encoding of bytes that are no JSON in UTF-8, if a byte order mark or zeros show it. No text in UTF-8 has the
    /// bytes of such a mark, and no JSON a zero.
    private static func encoding(of bytes: some Collection<UInt8>) -> String? {
        if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]) { return "UTF-32" }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return "UTF-16" }
        guard bytes.contains(0) else { return nil }
        // ASCII characters have one zero in UTF-16, three in UTF-32.
        return bytes.count { $0 == 0 } > bytes.count / 2 + 1 ? "UTF-32" : "UTF-16"
    }
}
