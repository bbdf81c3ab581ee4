/// A place in a `DecodingSource`, from which one item after the other is taken.
///
/// What is not what was asked for stays where it is.
struct ItemCursor {
    let source: DecodingSource
    var offset: Int

    /// The next item as a tree.
    mutating func value() -> Value {
        var reader = CBORReader(checked: Array(source.content[offset..<source.end(of: offset)]))
        guard let value = try? reader.value() else {
            preconditionFailure("a checked source holds no item at \(offset)")
        }
        offset += reader.offset
        return value
    }

    /// For how many elements to reserve memory: a container of tiny items must not claim a large multiple of the input.
    func reservation<Element>(of type: Element.Type, _ count: Int) -> Int {
        min(count, source.content.count * 16 / max(1, MemoryLayout<Element>.stride) + 16)
    }

    mutating func skip() {
        offset = source.end(of: offset)
    }

    /// What to throw if the next item is not what was expected.
    func mismatch(_ expected: String, at place: Place) -> CodingFailure {
        place.failure(isNull ? .missingValue : .typeMismatch, "expected \(expected), got \(summary)")
    }

    /// What a message says of the next item. Containers are not looked into.
    private var summary: String {
        let (major, count, _) = source.head(at: offset)
        if major == 4 { return "an array of \(count)" }
        if major == 5 { return "a map of \(count)" }
        var copy = self
        return copy.value().summary
    }

    var isContainer: Bool { (4...5).contains(source[offset] >> 5) }
}

extension ItemCursor {
    var isNull: Bool { source[offset] == 0xF6 }

    mutating func takeNull() -> Bool {
        guard isNull else { return false }
        offset += 1
        return true
    }

    mutating func takeBool() -> Bool? {
        let first = source[offset]
        guard first == 0xF4 || first == 0xF5 else { return nil }
        offset += 1
        return first == 0xF5
    }

    mutating func takeInteger<I: FixedWidthInteger>() -> I? {
        let (major, argument, next) = source.head(at: offset)
        let result: I?
        switch major {
        case 0: result = I(exactly: argument)
        case 1: result = argument <= UInt64(Int64.max) ? I(exactly: ~Int64(bitPattern: argument)) : nil
        default: return nil
        }
        if result != nil { offset = next }
        return result
    }

    mutating func takeFloat() -> Double? {
        switch source[offset] {
        case 0xF9: HalfPrecision.value(bits: UInt16(truncatingIfNeeded: takeArgument()))
        case 0xFA: Double(Float(bitPattern: UInt32(truncatingIfNeeded: takeArgument())))
        case 0xFB: Double(bitPattern: takeArgument())
        default: nil
        }
    }

    @inline(__always)
    mutating func takeText() -> String? { takeString(3).map { String(decoding: $0, as: UTF8.self) } }

    mutating func takeBytes() -> [UInt8]? { takeString(2).map { Array($0) } }

    /// The content of a string, which stays where it is.
    @inline(__always)
    private mutating func takeString(_ wanted: UInt8) -> UnsafeBufferPointer<UInt8>? {
        let (major, argument, next) = source.head(at: offset)
        guard major == wanted else { return nil }
        let bytes = source.content
        precondition(argument <= UInt64(bytes.count - next), "the source ends before a string at \(offset)")
        offset = next + Int(argument)
        return UnsafeBufferPointer(rebasing: bytes[next..<offset])
    }

    /// Bytes, or the text that the JSON view has for them.
    mutating func takeBytesOrBase64() -> [UInt8]? {
        if let bytes = takeBytes() { return bytes }
        let start = self
        if let text = takeText(), source.takesOtherForms(), let bytes = Base64.bytes(text) { return bytes }
        self = start
        return nil
    }

    /// The count of an array, whose elements come next.
    mutating func takeArray() -> Int? { takeCount(4) }

    /// The count of a map, whose entries come next, sorted by key.
    mutating func takeMap() -> Int? { takeCount(5) }

    mutating func skipTags() {
        while source[offset] >> 5 == 6 { offset = source.head(at: offset).next }
    }

    mutating func skipTag(_ number: UInt64) {
        let (major, argument, next) = source.head(at: offset)
        if major == 6, argument == number { offset = next }
    }

    private mutating func takeCount(_ wanted: UInt8) -> Int? {
        let (major, argument, next) = source.head(at: offset)
        guard major == wanted else { return nil }
        offset = next
        return Int(argument)
    }

    private mutating func takeArgument() -> UInt64 {
        let (_, argument, next) = source.head(at: offset)
        offset = next
        return argument
    }
}
