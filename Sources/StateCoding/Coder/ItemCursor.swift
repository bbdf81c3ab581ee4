/// A place in a `DecodingSource`, from which one item after the other is taken.
///
/// What is not what was asked for stays where it is.
struct ItemCursor {
    let source: DecodingSource
    var offset: Int

    /// The next item as a tree.
    mutating func value() -> Value {
        var reader = CBORReader(source.bytes[offset...], limits: CodingLimits(depthMax: .max))
        guard let value = try? reader.value() else {
            preconditionFailure("a checked source holds no item at \(offset)")
        }
        offset += reader.offset
        return value
    }

    /// For how many elements to reserve memory: a container of tiny items must not claim a large multiple of the input.
    func reservation<Element>(of type: Element.Type, _ count: Int) -> Int {
        min(count, source.bytes.count * 16 / max(1, MemoryLayout<Element>.stride) + 16)
    }

    mutating func skip() {
        offset = source.end(of: offset)
    }

    /// What to throw if the next item is not what was expected.
    func mismatch(_ expected: String, at place: Place) -> CodingFailure {
        var copy = self
        let value = copy.value()
        return place.failure(
            value.isNull ? .missingValue : .typeMismatch,
            "expected \(expected), got \(value.summary)"
        )
    }
}

extension ItemCursor {
    var isNull: Bool { source.bytes[offset] == 0xF6 }

    mutating func takeNull() -> Bool {
        guard isNull else { return false }
        offset += 1
        return true
    }

    mutating func takeBool() -> Bool? {
        let first = source.bytes[offset]
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
        switch source.bytes[offset] {
        case 0xF9: HalfPrecision.value(bits: UInt16(truncatingIfNeeded: takeArgument()))
        case 0xFA: Double(Float(bitPattern: UInt32(truncatingIfNeeded: takeArgument())))
        case 0xFB: Double(bitPattern: takeArgument())
        default: nil
        }
    }

    mutating func takeText() -> String? {
        let (major, argument, next) = source.head(at: offset)
        guard major == 3 else { return nil }
        offset = next + Int(argument)
        return source.bytes.withUnsafeBufferPointer { String(decoding: $0[next..<offset], as: UTF8.self) }
    }

    mutating func takeBytes() -> [UInt8]? {
        let (major, argument, next) = source.head(at: offset)
        guard major == 2 else { return nil }
        offset = next + Int(argument)
        return Array(source.bytes[next..<offset])
    }

    /// Bytes, or the text that the JSON view has for them.
    mutating func takeBytesOrBase64() -> [UInt8]? {
        if let bytes = takeBytes() { return bytes }
        let start = self
        if let bytes = takeText().flatMap({ Base64.bytes($0) }) { return bytes }
        self = start
        return nil
    }

    /// The count of an array, whose elements come next.
    mutating func takeArray() -> Int? { takeCount(4) }

    /// The count of a map, whose entries come next, sorted by key.
    mutating func takeMap() -> Int? { takeCount(5) }

    mutating func skipTags() {
        while source.bytes[offset] >> 5 == 6 { offset = source.head(at: offset).next }
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
