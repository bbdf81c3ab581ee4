/// Reads CBOR item by item. Any input is safe: what is not well-formed throws, nothing traps, and no length is believed
/// before the input is known to hold it.
///
/// After a failure the reader stands where the offending item began.
package struct CBORReader: Sendable {
    private let input: ArraySlice<UInt8>
    private var position: Int
    /// How many bytes of the input no count has reserved memory for yet.
    private var unreserved: Int
    /// What is accepted at most.
    package private(set) var limits: CodingLimits
    /// Whether the bytes are within the limits already.
    private let areChecked: Bool

    /// A reader of these bytes, from the first on.
    package init(_ bytes: ArraySlice<UInt8>, limits: CodingLimits = .standard) {
        input = bytes
        self.limits = limits
        areChecked = false
        position = bytes.startIndex
        unreserved = bytes.count
    }

    /// A reader of these bytes, from the first on.
    package init(_ bytes: [UInt8], limits: CodingLimits = .standard) {
        self.init(bytes[...], limits: limits)
    }

    /// A reader of bytes that were written here, or checked before: nothing in them is too deep or too long any more.
    init(checked bytes: [UInt8]) {
        input = bytes[...]
        limits = CodingLimits(depthMax: .max)
        areChecked = true
        position = 0
        unreserved = bytes.count
    }

    /// How many bytes have been read.
    package var offset: Int { position - input.startIndex }
    /// Whether everything has been read.
    package var isAtEnd: Bool { position >= input.endIndex }
    var remaining: Int { input.endIndex - position }

    /// The kind of the next item; `nil` at the end.
    package var peek: CBORKind? {
        isAtEnd ? nil : CBORKind(initialByte: input[position])
    }

    /// - Throws: `trailingBytes` unless everything has been read.
    package func requireEnd() throws(CodingFailure) {
        guard isAtEnd else { throw failure(.trailingBytes, "expected the end, but \(remaining) bytes follow") }
    }

    /// - Throws: `typeMismatch`, `malformed`, `truncated`, as do all that read one item.
    package mutating func unsigned() throws(CodingFailure) -> UInt64 {
        try argument(of: .unsigned, "an integer of 0 or above")
    }

    /// - Throws: `outOfRange` for an integer beyond `Int64`.
    package mutating func integer() throws(CodingFailure) -> Int64 {
        let start = position
        let isNegative = peek == .negative
        let magnitude = try argument(of: isNegative ? .negative : .unsigned, "an integer")
        guard let value = Int64(exactly: magnitude) else {
            position = start
            throw failure(.outOfRange, "expected an integer of 64 bits with sign, got a larger one")
        }
        return isNegative ? ~value : value
    }

    /// - Throws: as `unsigned()`, like those below.
    package mutating func bool() throws(CodingFailure) -> Bool {
        try require(.bool, "a bool")
        position += 1
        return input[position - 1] == 0xF5
    }

    /// Reads a null (or `undefined`), if that is what comes next.
    package mutating func isNull() -> Bool {
        guard peek == .null else { return false }
        position += 1
        return true
    }

    /// A null (or `undefined`), nothing else.
    package mutating func null() throws(CodingFailure) {
        try require(.null, "null")
        position += 1
    }

    /// A float of any precision.
    package mutating func float() throws(CodingFailure) -> Double {
        try require(.float, "a float")
        let start = position
        let first = input[position]
        position += 1
        do throws(CodingFailure) {
            switch first {
            case 0xF9: return HalfPrecision.value(bits: UInt16(truncatingIfNeeded: try bigEndian(2)))
            case 0xFA: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: try bigEndian(4))))
            default: return Double(bitPattern: try bigEndian(8))
            }
        } catch {
            position = start
            throw error
        }
    }

    /// A byte string; `tooLarge` if its length is beyond the input.
    package mutating func bytes() throws(CodingFailure) -> [UInt8] {
        Array(try content(of: .bytes, "a byte string"))
    }

    /// - Throws: `invalidText` if it is not UTF-8, or has more marks in a row than ``CodingLimits/combiningMarksMax``.
    package mutating func text() throws(CodingFailure) -> String {
        let start = position
        let content = try content(of: .text, "a text")
        guard let text = String(validating: content, as: UTF8.self) else {
            position = start
            throw failure(.invalidText, "expected a text in UTF-8, got other bytes")
        }
        try checkMarks(of: text, from: start - input.startIndex)
        return text
    }

    /// - Throws: `invalidText`, at the offset where the text begins.
    mutating func checkMarks(of text: String, from offset: Int) throws(CodingFailure) {
        guard !areChecked, text.hasTooManyMarks else { return }
        move(to: offset)
        throw failure(.invalidText, CodingFailure.tooManyMarks)
    }

    /// The count of an array, whose items come next.
    ///
    /// - Throws: `tooLarge` if the rest of the input cannot hold that many; `malformed` for an indefinite length.
    package mutating func arrayCount() throws(CodingFailure) -> Int {
        try count(of: .array, "an array", bytesEach: 1)
    }

    /// The count of a map's entries, of which each comes as key and value.
    ///
    /// - Throws: as `arrayCount()`. Whether keys differ is for the caller to see; `value()` checks it.
    package mutating func mapCount() throws(CodingFailure) -> Int {
        try count(of: .map, "a map", bytesEach: 2)
    }

    /// The number of a tag, whose content comes next.
    package mutating func tag() throws(CodingFailure) -> UInt64 {
        try argument(of: .tag, "a tag")
    }

    /// How many of so many items to make room for at once.
    ///
    /// Counts that are true reserve no byte of the input twice. Heads within each other could each promise all the rest.
    mutating func reserve(_ count: Int, bytesEach: Int) -> Int {
        let granted = min(count, unreserved / bytesEach)
        unreserved -= granted * bytesEach
        return granted
    }

    func failure(_ code: CodingFailure.Code, _ message: String) -> CodingFailure {
        CodingFailure(code, message, offset: offset)
    }
}

extension CBORReader {
    /// Marks a length that is not told in advance: the items end with a break.
    static let indefinite: UInt8 = 31
    static let breakByte: UInt8 = 0xFF

    /// The same reader, from the same place on, with other limits.
    func with(limits: CodingLimits) -> CBORReader {
        var reader = self
        reader.limits = limits
        return reader
    }

    var nextByte: UInt8? { isAtEnd ? nil : input[position] }

    mutating func move(to offset: Int) {
        position = input.startIndex + offset
    }

    /// The bytes from an offset to where the reader stands.
    func read(since offset: Int) -> ArraySlice<UInt8> {
        input[(input.startIndex + offset)..<position]
    }

    private func require(_ kind: CBORKind, _ expected: String) throws(CodingFailure) {
        guard let next = peek else { throw failure(.truncated, "expected \(expected), but the input ends") }
        guard next == kind else { throw failure(.typeMismatch, "expected \(expected), got \(next.words)") }
    }

    mutating func argument(of kind: CBORKind, _ expected: String) throws(CodingFailure) -> UInt64 {
        try require(kind, expected)
        let start = position
        let information = input[position] & 0x1F
        position += 1
        do throws(CodingFailure) {
            switch information {
            case 0..<24: return UInt64(information)
            case 24: return try bigEndian(1)
            case 25: return try bigEndian(2)
            case 26: return try bigEndian(4)
            case 27: return try bigEndian(8)
            case Self.indefinite:
                throw failure(.malformed, "expected \(expected) with its length, got one of indefinite length")
            default: throw failure(.malformed, "expected \(expected), got the reserved length code \(information)")
            }
        } catch {
            position = start
            throw CodingFailure(error.code, error.message, offset: offset)
        }
    }

    private mutating func bigEndian(_ count: Int) throws(CodingFailure) -> UInt64 {
        guard remaining >= count else {
            throw failure(.truncated, "expected \(count) more bytes of a number, but \(remaining) are left")
        }
        var result: UInt64 = 0
        for byte in input[position..<(position + count)] { result = result << 8 | UInt64(byte) }
        position += count
        return result
    }

    mutating func content(of kind: CBORKind, _ expected: String) throws(CodingFailure) -> ArraySlice<UInt8> {
        let start = position
        let length = try argument(of: kind, expected)
        guard length <= UInt64(remaining) else {
            let left = remaining
            position = start
            throw failure(.tooLarge, "expected \(expected) of \(length) bytes, but \(left) are left")
        }
        position += Int(length)
        return input[(position - Int(length))..<position]
    }

    mutating func count(
        of kind: CBORKind,
        _ expected: String,
        bytesEach: UInt64
    ) throws(CodingFailure) -> Int {
        let start = position
        let count = try argument(of: kind, expected)
        guard count <= UInt64(remaining) / bytesEach else {
            let left = remaining
            position = start
            throw failure(.tooLarge, "expected \(expected) of \(count) items, but only \(left) bytes are left")
        }
        return Int(count)
    }
}
