/// A type that is encoded by this protocol instead of its own `encode(to:)`: primitives, optionals and collections.
///
/// `Dictionary` and `Set` encode themselves in hash order, and dictionaries with other keys than texts and integers as
/// alternating arrays. Here they are sorted, and every dictionary is a map.
protocol BuiltInEncodable: Encodable {
    /// Writes the value as one item.
    func write(to output: EncodingOutput, at place: CodingPath) throws

    /// The types of the parts, for checks that need no instance.
    static var partTypes: [Any.Type] { get }
}

extension BuiltInEncodable {
    static var partTypes: [Any.Type] { [] }
}

/// The decoding side of `BuiltInEncodable`.
protocol BuiltInDecodable: Decodable {
    /// Reads the next item.
    static func read(_ cursor: inout ItemCursor, at place: CodingPath) throws -> Self

    /// A plain instance.
    static var sample: Self { get }
}

// MARK: Arrays and sets

extension Array: BuiltInEncodable where Element: Encodable {
    func write(to output: EncodingOutput, at place: CodingPath) throws {
        if Element.self == UInt8.self { return output.writer.bytes(castElements(self, to: UInt8.self)) }
        try place.checkDepth()
        output.writer.array(count: count)
        if try writePrimitives(self, to: output, at: place) { return }
        let node = try place.open()
        try withUnsafeBufferPointer { elements in
            // Stepping a pointer needs no type of a buffer from the runtime.
            guard var next = elements.baseAddress else { return }
            for index in 0..<elements.count {
                try encodeItem(next.pointee, into: output, under: DataKey.index(index), in: node)
                next += 1
            }
        }
    }

    static var partTypes: [Any.Type] { [Element.self] }
}

extension Array: BuiltInDecodable where Element: Decodable {
    /// Bytes come as a byte string, or as the JSON view has them: base64, or an array of numbers.
    static func read(_ cursor: inout ItemCursor, at place: CodingPath) throws -> [Element] {
        cursor.skipTags()
        if Element.self == UInt8.self, let bytes = cursor.readBytesOrBase64() {
            return castElements(bytes, to: Element.self)
        }
        guard let count = cursor.readArray() else {
            let expected = Element.self == UInt8.self ? "bytes (or base64 text)" : "an array"
            throw cursor.mismatch(expected, at: place)
        }
        try place.checkDepth()
        if let primitives = try readPrimitives(Element.self, count, &cursor, at: place) { return primitives }
        let node = try place.open()
        var result: [Element] = []
        result.reserveCapacity(cursor.reservation(of: Element.self, count))
        for index in 0..<count {
            result.append(try decodeItem(Element.self, &cursor, under: DataKey.index(index), in: node))
        }
        return result
    }

    static var sample: [Element] { [] }
}

/// A set is an array sorted by the encodings of its elements.
extension Set: BuiltInEncodable where Element: Encodable {
    func write(to output: EncodingOutput, at place: CodingPath) throws {
        let node = try place.open()
        output.writer.array(count: count)
        let mark = output.mark
        for (index, element) in enumerated() {
            try output.beginEntry(element, at: CodingPath(node: node, key: DataKey.index(index)))
        }
        guard output.endEntries(from: mark) else {
            throw place.failure(.unencodable, "two elements of the set have one encoding, so one would be lost")
        }
    }

    static var partTypes: [Any.Type] { [Element.self] }
}

extension Set: BuiltInDecodable where Element: Decodable {
    static func read(_ cursor: inout ItemCursor, at place: CodingPath) throws -> Set {
        Set(try [Element].read(&cursor, at: place))
    }

    static var sample: Set { [] }
}

// MARK: Optionals

extension CodingPath {
    /// The failure for `.some(nil)`, and for other present values that are encoded as null.
    var looksAbsent: CodingFailure {
        failure(.unencodable, "a present value has the encoding of an absent one, null; use an enum")
    }
}

protocol AnyOptional {
    var content: Any? { get }
}

extension Optional: AnyOptional {
    var content: Any? { self }
}

extension Optional: BuiltInEncodable where Wrapped: Encodable {
    func write(to output: EncodingOutput, at place: CodingPath) throws {
        guard let self else { return output.writer.null() }
        let start = output.writer.count
        try encodeItem(self, into: output, under: place.key, in: place.node)
        if output.writer.isNull(at: start) { throw place.looksAbsent }
    }

    static var partTypes: [Any.Type] { [Wrapped.self] }
}

extension Optional: BuiltInDecodable where Wrapped: Decodable {
    static func read(_ cursor: inout ItemCursor, at place: CodingPath) throws -> Self {
        cursor.readNull() ? nil : try decodeItem(Wrapped.self, &cursor, under: place.key, in: place.node)
    }

    static var sample: Self { nil }
}
