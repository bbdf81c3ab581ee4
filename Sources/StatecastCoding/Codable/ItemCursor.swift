/// A position in a `DecodingSource`, which reads one item after the other.
///
/// `read…` functions return `nil` (`readNull` returns `false`) without advancing if the next item has another type.
struct ItemCursor {
    let source: DecodingSource
    var offset: Int

    /// Reads the next item as a tree.
    mutating func value() -> Value {
        defer { skip() }
        return copy()
    }

    /// The next item as a tree.
    func copy() -> Value {
        CheckedItems(bytes: source.content).value(offset..<source.end(of: offset))
    }

    /// The number of elements to reserve memory for: a container of tiny items must not claim a large multiple of the
    /// input.
    func reservation<Element>(of type: Element.Type, _ count: Int) -> Int {
        min(count, source.content.count * 16 / max(1, MemoryLayout<Element>.stride) + 16)
    }

    mutating func skip() {
        offset = source.end(of: offset)
    }

    /// The failure if the next item is not the expected one.
    func mismatch(_ expected: String, at place: CodingPath) -> CodingFailure {
        place.failure(isNull ? .missingValue : .typeMismatch, "expected \(expected), got \(summary)")
    }

    /// The description of the next item in messages, without the contents of containers.
    private var summary: String {
        let head = source.head(at: offset)
        if head.major == 4 { return "an array of \(head.argument)" }
        if head.major == 5 { return "a map of \(head.argument)" }
        return copy().summary
    }

    var isContainer: Bool { (4...5).contains(source[offset] >> 5) }

    // MARK: Single items

    var isNull: Bool { source[offset] == 0xF6 }

    mutating func readNull() -> Bool {
        guard isNull else { return false }
        offset += 1
        return true
    }

    mutating func readBool() -> Bool? {
        let first = source[offset]
        guard first == 0xF4 || first == 0xF5 else { return nil }
        offset += 1
        return first == 0xF5
    }

    mutating func readInteger<I: FixedWidthInteger>() -> I? {
        let head = source.head(at: offset)
        let result: I?
        switch head.major {
        case 0: result = I(exactly: head.argument)
        case 1: result = head.argument <= UInt64(Int64.max) ? I(exactly: ~Int64(bitPattern: head.argument)) : nil
        default: return nil
        }
        if result != nil { offset = head.next }
        return result
    }

    mutating func readFloat() -> Double? {
        let head = source.head(at: offset)
        guard head.major == 7, let value = CBORHead.float(source[offset], bits: head.argument) else { return nil }
        offset = head.next
        return value
    }

    @inline(__always)
    mutating func readText() -> String? { readString(3).map { String(decoding: $0, as: UTF8.self) } }

    mutating func readBytes() -> [UInt8]? { readBytes { Array($0) } }

    /// The result of `body` for the content of a byte string, in place.
    mutating func readBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result? {
        readString(2).map(body)
    }

    /// The content of a string, in place.
    @inline(__always)
    private mutating func readString(_ wanted: UInt8) -> UnsafeBufferPointer<UInt8>? {
        let head = source.head(at: offset)
        guard head.major == wanted else { return nil }
        let bytes = source.content
        precondition(head.argument <= UInt64(bytes.count - head.next), "the source ends before a string at \(offset)")
        offset = head.next + Int(head.argument)
        return UnsafeBufferPointer(rebasing: bytes[head.next..<offset])
    }

    /// Bytes, or the JSON view's text of them.
    mutating func readBytesOrBase64() -> [UInt8]? {
        if let bytes = readBytes() { return bytes }
        let start = self
        if let text = readText(), source.acceptsJSONForms(), let bytes = Base64.bytes(text) { return bytes }
        self = start
        return nil
    }

    /// The count of an array; its elements come next.
    mutating func readArray() -> Int? { readCount(4) }

    /// The count of a map; its entries come next, sorted by key.
    mutating func readMap() -> Int? { readCount(5) }

    mutating func skipTags() {
        while source[offset] >> 5 == 6 { offset = source.head(at: offset).next }
    }

    /// - Returns: Whether the tag was there.
    mutating func skipTag(_ number: UInt64) -> Bool {
        let head = source.head(at: offset)
        guard head.major == 6, head.argument == number else { return false }
        offset = head.next
        return true
    }

    private mutating func readCount(_ wanted: UInt8) -> Int? {
        let head = source.head(at: offset)
        guard head.major == wanted else { return nil }
        offset = head.next
        return Int(head.argument)
    }
}
