/// A UUID as 16 bytes in tag 37, and as text (RFC 9562, section 4), with the capitals in which Swift writes it.
enum UUIDForm {
    static let tag: UInt64 = 37

    /// - Returns: `nil` unless there are 16 bytes.
    static func text(_ bytes: [UInt8]) -> String? {
        guard bytes.count == 16 else { return nil }
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: `nil` unless the text is five groups of 8, 4, 4, 4 and 12 hexadecimal digits.
    static func bytes(_ text: String) -> [UInt8]? {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
        let digits = groups.joined().utf8.map { Character(Unicode.Scalar($0)) }
        guard digits.count == 32, digits.allSatisfy(\.isHexDigit) else { return nil }
        return stride(from: 0, to: 32, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
