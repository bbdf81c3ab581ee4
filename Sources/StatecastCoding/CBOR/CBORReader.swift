/// Reads CBOR item by item. Any input is safe: malformed input throws, and the reader reserves memory for a length only
/// after checking that the input can hold it.
///
/// After a failure, `offset` is the start of the invalid item.
package struct CBORReader: Sendable {
    private let input: ArraySlice<UInt8>
    private var position: Int
    /// The number of input bytes for which no count has reserved memory yet.
    private var unreserved: Int
    package private(set) var limits: CodingLimits
    /// Whether the bytes are known to be within the limits.
    private let isChecked: Bool

    private static let breakByte: UInt8 = 0xFF

    package init(_ bytes: ArraySlice<UInt8>, limits: CodingLimits = .standard) {
        input = bytes
        self.limits = limits
        isChecked = false
        position = bytes.startIndex
        unreserved = bytes.count
    }

    package init(_ bytes: [UInt8], limits: CodingLimits = .standard) {
        self.init(bytes[...], limits: limits)
    }

    /// A reader of bytes that this process wrote or checked: their depth and marks are not checked again.
    init(checked bytes: [UInt8]) {
        input = bytes[...]
        limits = CodingLimits(maxDepth: .max)
        isChecked = true
        position = 0
        unreserved = bytes.count
    }

    /// The number of bytes that have been read.
    package var offset: Int { position - input.startIndex }
    package var isAtEnd: Bool { position >= input.endIndex }
    private var remaining: Int { input.endIndex - position }

    /// The kind of the next item; `nil` at the end.
    package var peek: CBORKind? {
        isAtEnd ? nil : CBORKind(initialByte: input[position])
    }

    /// The same reader, at the same place, with other limits.
    func with(limits: CodingLimits) -> CBORReader {
        var reader = self
        reader.limits = limits
        return reader
    }

    mutating func move(to offset: Int) {
        position = input.startIndex + offset
    }

    /// The size of the next item, if it is deterministic.
    private var deterministicCount: Int? {
        input[position...].withUnsafeBufferPointer { DeterministicCheck.end(ofFirst: $0, limits) }
    }

    /// The next item; `nil` without advancing if it is not deterministic.
    mutating func deterministicItem() -> [UInt8]? {
        guard let count = deterministicCount else { return nil }
        defer { position += count }
        return Array(input[position..<(position + count)])
    }

    /// - Throws: `trailingBytes` unless everything has been read.
    package func requireEnd() throws(CodingFailure) {
        guard isAtEnd else { throw failure(.trailingBytes, "expected the end, but \(remaining) bytes follow") }
    }

    func failure(_ code: CodingFailure.Code, _ message: String) -> CodingFailure {
        CodingFailure(code, message, offset: offset)
    }

    // MARK: Single items

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

    package mutating func bool() throws(CodingFailure) -> Bool {
        try require(.bool, "a bool")
        position += 1
        return input[position - 1] == 0xF5
    }

    /// Reads a null (or `undefined`), if it comes next.
    package mutating func isNull() -> Bool {
        guard peek == .null else { return false }
        position += 1
        return true
    }

    /// Reads a null (or `undefined`).
    package mutating func null() throws(CodingFailure) {
        try require(.null, "null")
        position += 1
    }

    /// A float of any precision.
    package mutating func float() throws(CodingFailure) -> Double {
        let first = nextByte ?? 0
        let bits = try argument(of: .float, "a float")
        guard let value = CBORHead.float(first, bits: bits) else {
            preconditionFailure("the first byte of a float is 0x\(String(first, radix: 16))")
        }
        return value
    }

    /// A byte string; `tooLarge` if its length is beyond the input.
    package mutating func bytes() throws(CodingFailure) -> [UInt8] { Array(try bytesInPlace()) }

    /// A byte string in the memory of the input; throws as `bytes()`.
    package mutating func bytesInPlace() throws(CodingFailure) -> ArraySlice<UInt8> {
        try content(of: .bytes, "a byte string")
    }

    /// The next `count` byte strings with their heads, in the memory of the input.
    ///
    /// - Throws: as `bytes()` for each.
    package mutating func encodedByteStrings(count: Int) throws(CodingFailure) -> ArraySlice<UInt8> {
        let start = position
        for _ in 0..<count {
            if let content = input.contentOfByteString(at: offset) {
                move(to: content.upperBound)
            } else {
                _ = try content(of: .bytes, "a byte string")
            }
        }
        return input[start..<position]
    }

    /// - Throws: `invalidText` if it is not UTF-8, or has more marks in a row than ``CodingLimits/maxCombiningMarks``.
    package mutating func text() throws(CodingFailure) -> String {
        let start = position
        let content = try content(of: .text, "a text")
        // `String(validating:)` looks up generic types, which costs more than decoding most texts.
        if content.isASCII { return String(decoding: content, as: UTF8.self) }
        guard let text = String(validating: content, as: UTF8.self) else {
            position = start
            throw failure(.invalidText, "expected a text in UTF-8, got other bytes")
        }
        try checkMarks(of: text, from: start - input.startIndex)
        return text
    }

    /// The bytes of a text in the memory of the input. They are not checked.
    package mutating func textInPlace() throws(CodingFailure) -> ArraySlice<UInt8> {
        try content(of: .text, "a text")
    }

    /// The count of an array; its items come next.
    ///
    /// - Throws: `tooLarge` if the rest of the input cannot hold that many; `malformed` for an indefinite length.
    package mutating func arrayCount() throws(CodingFailure) -> Int {
        try count(of: .array, "an array", bytesEach: 1)
    }

    /// The count of a map's entries; each comes as key and value.
    ///
    /// - Throws: as `arrayCount()`. The caller checks that the keys differ; `value()` does.
    package mutating func mapCount() throws(CodingFailure) -> Int {
        try count(of: .map, "a map", bytesEach: 2)
    }

    /// The number of a tag; its content comes next.
    package mutating func tag() throws(CodingFailure) -> UInt64 {
        try argument(of: .tag, "a tag")
    }

    // MARK: Whole items of any shape, indefinite lengths included

    /// The next item as a value.
    ///
    /// - Throws: `tooDeep`, `duplicateKey` and `invalidText`, besides what reading single items throws.
    package mutating func value() throws(CodingFailure) -> Value {
        try value(depth: 0)
    }

    /// Skips the next item.
    ///
    /// - Throws: as `value()`.
    package mutating func skip() throws(CodingFailure) {
        // Nearly all items are deterministic.
        if let count = deterministicCount { position += count } else { _ = try value() }
    }

    /// The bytes of the next item, checked as by `value()`.
    package mutating func encodedItem() throws(CodingFailure) -> [UInt8] {
        let start = position
        try skip()
        return Array(input[start..<position])
    }

    private mutating func value(depth: Int) throws(CodingFailure) -> Value {
        switch try nextKind() {
        case .unsigned: return .unsigned(try unsigned())
        case .negative: return .negative(try argument(of: .negative, "an integer"))
        case .bool: return .bool(try bool())
        case .float: return .float(try float())
        case .null:
            try null()
            return .null
        case .bytes: return .bytes(try isIndefinite ? chunks(of: .bytes) : bytes())
        case .text: return .text(try isIndefinite ? joinedText() : text())
        case .tag:
            let inner = try deeper(depth)
            let number = try tag()
            return .tagged(number, try value(depth: inner))
        case .array:
            let inner = try deeper(depth)
            var elements: [Value] = []
            try eachEntry(of: .array) { (reader: inout CBORReader, reserved) throws(CodingFailure) in
                if let reserved { elements.reserveCapacity(reserved) }
                elements.append(try reader.value(depth: inner))
            }
            return .array(elements)
        case .map: return .map(try entries(depth: deeper(depth)))
        case .other: throw unknownSimpleValue
        }
    }

    private mutating func entries(depth: Int) throws(CodingFailure) -> ValueMap {
        let start = offset
        var entries: [(key: Value, element: Value)] = []
        try eachEntry(of: .map) { (reader: inout CBORReader, reserved) throws(CodingFailure) in
            if let reserved { entries.reserveCapacity(reserved) }
            entries.append((try reader.value(depth: depth), try reader.value(depth: depth)))
        }
        do throws(CodingFailure) {
            return try ValueMap(unique: entries)
        } catch {
            throw CodingFailure(error.code, error.message, offset: start)
        }
    }

    /// Reads the head of an array or map, and its entries with `body`. `body` receives the number of entries to reserve
    /// on the first call, then `nil`; for an indefinite length always `nil`.
    private mutating func eachEntry(
        of kind: CBORKind,
        _ body: (inout CBORReader, Int?) throws(CodingFailure) -> Void
    ) throws(CodingFailure) {
        if isIndefinite {
            position += 1
            while try !atBreak() { try body(&self, nil) }
        } else {
            let count = try kind == .map ? mapCount() : arrayCount()
            var reserved: Int? = reserve(count, bytesEach: kind == .map ? 2 : 1)
            for _ in 0..<count { try body(&self, reserved.take()) }
        }
    }

    /// The number of entries to reserve memory for at once.
    ///
    /// Each input byte is counted once, so nested containers cannot together reserve more than the input allows.
    private mutating func reserve(_ count: Int, bytesEach: Int) -> Int {
        let granted = min(count, unreserved / bytesEach)
        unreserved -= granted * bytesEach
        return granted
    }

    /// A string of indefinite length comes as chunks of its own kind, each with its length.
    private mutating func chunks(of kind: CBORKind) throws(CodingFailure) -> [UInt8] {
        var result: [UInt8] = []
        position += 1
        while try !atBreak() { result.append(contentsOf: try content(of: kind, "a chunk of \(kind.words)")) }
        return result
    }

    private mutating func joinedText() throws(CodingFailure) -> String {
        let start = offset
        var result = ""
        position += 1
        while try !atBreak() { result += try text() }
        try checkMarks(of: result, from: start)
        return result
    }

    /// - Throws: `invalidText`, at the offset where the text begins.
    private mutating func checkMarks(of text: String, from offset: Int) throws(CodingFailure) {
        guard !isChecked, text.hasTooManyMarks else { return }
        move(to: offset)
        throw failure(.invalidText, CodingFailure.tooManyMarks)
    }

    // MARK: Heads

    private var nextByte: UInt8? { isAtEnd ? nil : input[position] }

    private var isIndefinite: Bool { nextByte.map { $0 & 0x1F == CBORHead.indefinite } ?? false }

    private func nextKind() throws(CodingFailure) -> CBORKind {
        guard let kind = peek else { throw failure(.truncated, "expected an item, but the input ends") }
        return kind
    }

    private mutating func atBreak() throws(CodingFailure) -> Bool {
        guard let byte = nextByte else { throw failure(.truncated, "expected an item or a break, but the input ends") }
        guard byte == Self.breakByte else { return false }
        position += 1
        return true
    }

    private func deeper(_ depth: Int) throws(CodingFailure) -> Int {
        guard depth < limits.maxDepth else {
            throw failure(.tooDeep, "expected at most \(limits.maxDepth) levels, got more")
        }
        return depth + 1
    }

    private var unknownSimpleValue: CodingFailure {
        let byte = nextByte.map { String($0, radix: 16) } ?? "nothing"
        return failure(.malformed, "expected an item, got 0x\(byte), a break out of place or an unknown simple value")
    }

    private func require(_ kind: CBORKind, _ expected: String) throws(CodingFailure) {
        guard let next = peek else { throw failure(.truncated, "expected \(expected), but the input ends") }
        guard next == kind else { throw failure(.typeMismatch, "expected \(expected), got \(next.words)") }
    }

    private mutating func argument(of kind: CBORKind, _ expected: String) throws(CodingFailure) -> UInt64 {
        try require(kind, expected)
        guard let head = input.withUnsafeBufferPointer({ CBORHead(at: offset, in: $0) }) else {
            throw missingHead(expected)
        }
        move(to: head.next)
        return head.argument
    }

    /// Why the next item has no readable head.
    private func missingHead(_ expected: String) -> CodingFailure {
        let information = input[position] & 0x1F
        if information == CBORHead.indefinite {
            return failure(.malformed, "expected \(expected) with its length, got one of indefinite length")
        }
        guard let width = CBORHead.argumentBytes(of: information) else {
            return failure(.malformed, "expected \(expected), got the reserved length code \(information)")
        }
        return failure(.truncated, "expected \(width) more bytes of a number, but \(remaining - 1) are left")
    }

    private mutating func content(of kind: CBORKind, _ expected: String) throws(CodingFailure) -> ArraySlice<UInt8> {
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

    private mutating func count(
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

extension Value {
    /// The value of CBOR bytes, all of them.
    ///
    /// - Throws: `truncated`, `malformed`, `tooDeep`, `trailingBytes`, ...
    public init(decoding bytes: [UInt8], limits: CodingLimits = .standard) throws(CodingFailure) {
        var reader = CBORReader(bytes, limits: limits)
        self = try reader.value()
        try reader.requireEnd()
    }
}
