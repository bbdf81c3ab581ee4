/// A value without parts: it changes as a whole.
protocol Primitive: BuiltInEncodable, BuiltInDecodable {
    var tree: Value { get }
    /// Whether decoders accept the value. Only texts with too many combining marks are refused.
    var isReadable: Bool { get }
    /// Accepts all forms in which the value may come, those of JSON too.
    init?(tree: Value)
    /// Writes the value as one item.
    func write(to writer: inout CBORWriter)
    /// Reads the encoder's form; returns `nil` without advancing for any other. Types may always return `nil`.
    static func readUsual(_ cursor: inout ItemCursor) -> Self?
    static var sample: Self { get }
    /// The description of the type in messages.
    static var expected: String { get }
}

extension Primitive {
    @inline(__always)
    var isReadable: Bool { true }

    /// Whether the encoder writes this value in the form of `value`, from which it was made. Other forms, as those of
    /// JSON, are refused first: a type that tries several types in turn would get a wrong one. Integers count as exact
    /// floats, and tags that the type does not write are ignored.
    private func isExact(_ value: Value) -> Bool {
        // A copy of the bytes would serve as well.
        if case .bytes = value { return Self.sample.tree.isWritten(for: value) }
        return tree.isWritten(for: value)
    }

    /// The failure for a value that only the payload of an action may have.
    static func inexact(_ value: Value, at place: CodingPath) -> CodingFailure {
        place.failure(
            .typeMismatch,
            "expected \(Self.self) as it is encoded, got \(value.untagged.summary): other forms, such as those of "
                + "JSON, are accepted in the payloads of actions only"
        )
    }

    /// Whether a source accepts this value, which was made from `value`.
    func isRead(from value: Value, _ source: DecodingSource) -> Bool { isExact(value) || source.acceptsJSONForms() }

    /// - Throws: `unencodable`.
    func tree(at place: CodingPath) throws(CodingFailure) -> Value {
        guard isReadable else { throw place.failure(.unencodable, CodingFailure.tooManyMarks) }
        return tree
    }

    func write(to writer: inout CBORWriter) { writer.value(tree) }

    func write(to output: EncodingOutput, at place: CodingPath) throws {
        guard isReadable else { throw place.failure(.unencodable, CodingFailure.tooManyMarks) }
        write(to: &output.writer)
    }

    static func readUsual(_ cursor: inout ItemCursor) -> Self? { nil }

    static func read(_ cursor: inout ItemCursor, at place: CodingPath) throws -> Self {
        if let usual = readUsual(&cursor) { return usual }
        if cursor.isContainer { throw cursor.mismatch(expected, at: place) }
        return try unshape(cursor.value(), cursor.source, at: place)
    }

    private static func unshape(_ value: Value, _ source: DecodingSource, at place: CodingPath) throws -> Self {
        // Tags that the type does not know are ignored.
        if let result = Self(tree: value) ?? Self(tree: value.untagged) {
            if result.isRead(from: value, source) { return result }
            throw inexact(value, at: place)
        }
        let content = value.untagged
        if content.isNull { throw place.failure(.missingValue, "expected \(expected), got null") }
        let number = DecimalNumber(sample.tree) == nil ? nil : DecimalNumber(value)?.text
        let isNumber = number != nil
        let code: CodingFailure.Code = isNumber ? .outOfRange : .typeMismatch
        // Large numbers are tagged bytes.
        let isLarge = content.doubleValue == nil
        let came = number.flatMap { $0.utf8.count > 40 || !isLarge ? nil : "the number \($0)" } ?? content.summary
        throw place.failure(
            code,
            "expected \(isNumber ? "\(expected) that fits \(Self.self)" : expected), got \(came)"
        )
    }
}

extension Value {
    /// Whether a value that the encoder writes as this one may come as `value`.
    fileprivate func isWritten(for value: Value) -> Bool {
        switch (value, self) {
        case (.text, .text), (.bytes, .bytes), (.array, .array), (.map, .map), (.bool, .bool),
            (.unsigned, .unsigned), (.negative, .negative):
            true
        case (.float(let came), .float(let written)): written == came || came.isNaN
        case (.unsigned(let came), .float(let written)): written == Double(came)
        case (.negative(let came), .float(let written)): written == -1 - Double(came)
        case (.tagged(let came, _), .tagged(let written, _)) where came == written: true
        case (.tagged(_, let content), _): isWritten(for: content)
        default: false
        }
    }

    /// The content, whatever tags are around it.
    var untagged: Value {
        var value = self
        while case .tagged(_, let content) = value { value = content }
        return value
    }
}

// MARK: Scalars

extension Bool: Primitive {
    var tree: Value { .bool(self) }
    init?(tree: Value) {
        guard let value = tree.boolValue else { return nil }
        self = value
    }
    func write(to writer: inout CBORWriter) { writer.bool(self) }
    @inline(__always)
    static func readUsual(_ cursor: inout ItemCursor) -> Bool? { cursor.readBool() }
    static var sample: Bool { false }
    static var expected: String { "a bool" }
}

extension String: Primitive {
    var tree: Value { .text(self) }
    init?(tree: Value) {
        guard let value = tree.textValue else { return nil }
        self = value
    }
    @inline(__always)
    var isReadable: Bool { !hasTooManyMarks }
    func write(to writer: inout CBORWriter) { writer.text(self) }
    @inline(__always)
    static func readUsual(_ cursor: inout ItemCursor) -> String? { cursor.readText() }
    static var sample: String { "" }
    static var expected: String { "a text" }
}

extension Primitive where Self: FixedWidthInteger {
    var tree: Value { Value(self) }
    init?(tree: Value) {
        guard let value = tree.integer(Self.self) else { return nil }
        self = value
    }
    func write(to writer: inout CBORWriter) {
        if Self.isSigned { writer.integer(Int64(truncatingIfNeeded: self)) } else { writer.unsigned(UInt64(self)) }
    }
    @inline(__always)
    static func readUsual(_ cursor: inout ItemCursor) -> Self? { cursor.readInteger() }
    static var sample: Self { 0 }
    static var expected: String { "an integer" }
}

extension Int: Primitive {}
extension Int8: Primitive {}
extension Int16: Primitive {}
extension Int32: Primitive {}
extension Int64: Primitive {}
extension UInt: Primitive {}
extension UInt8: Primitive {}
extension UInt16: Primitive {}
extension UInt32: Primitive {}
extension UInt64: Primitive {}

extension Double: Primitive {
    var tree: Value { .float(self) }
    /// Accepts integers that a `Double` holds exactly, and the JSON view's words.
    init?(tree: Value) {
        switch tree {
        case .float(let value): self = value
        case .unsigned(let value):
            guard let value = Double(exactly: value) else { return nil }
            self = value
        case .negative, .tagged:
            let exact = tree.integer(Int64.self).map { Double(exactly: $0) }
            guard let value = exact ?? Double(nearest: tree) else { return nil }
            self = value
        case .text(let word):
            guard let value = Double(nonFinite: word) else { return nil }
            self = value
        default: return nil
        }
    }
    func write(to writer: inout CBORWriter) { writer.float(self) }
    @inline(__always)
    static func readUsual(_ cursor: inout ItemCursor) -> Double? { cursor.readFloat() }
    static var sample: Double { 0 }
    static var expected: String { "a number" }
}

extension Float: Primitive {
    var tree: Value { .float(Double(self)) }
    /// Rounds, as a user's 0.1 is no `Float`; refuses numbers that would become infinite.
    init?(tree: Value) {
        guard let value = Double(tree: tree) else { return nil }
        self = Float(value)
        if isInfinite && value.isFinite { return nil }
    }
    func write(to writer: inout CBORWriter) { writer.float(Double(self)) }
    static var sample: Float { 0 }
    static var expected: String { "a number" }
}

// MARK: Arrays of primitives

// The usual elements of large arrays are coded without looking up the type of each. These functions are not in `Array`,
// so that they are specialized for each of the types.

/// Writes the elements.
///
/// - Returns: Whether they are of such a type; if not, nothing is written.
func writePrimitives<Element>(_ elements: [Element], to output: EncodingOutput, at place: CodingPath) throws -> Bool {
    if Element.self == Int.self { return try write(castElements(elements, to: Int.self), output, place) }
    if Element.self == Double.self { return try write(castElements(elements, to: Double.self), output, place) }
    if Element.self == String.self { return try write(castElements(elements, to: String.self), output, place) }
    return false
}

/// Reads `count` elements; `nil` if they are not of such a type.
func readPrimitives<Element>(
    _ type: Element.Type,
    _ count: Int,
    _ cursor: inout ItemCursor,
    at place: CodingPath
) throws -> [Element]? {
    if type == Int.self { return castElements(try read(Int.self, count, &cursor, place), to: type) }
    if type == Double.self { return castElements(try read(Double.self, count, &cursor, place), to: type) }
    if type == String.self { return castElements(try read(String.self, count, &cursor, place), to: type) }
    return nil
}

private func write<P: Primitive>(_ elements: [P], _ output: EncodingOutput, _ place: CodingPath) throws -> Bool {
    for element in elements {
        guard element.isReadable else {
            let index = elements.firstIndex { !$0.isReadable } ?? 0
            throw try CodingPath(node: place.open(), key: DataKey.index(index))
                .failure(.unencodable, CodingFailure.tooManyMarks)
        }
        element.write(to: &output.writer)
    }
    return true
}

private func read<P: Primitive>(
    _ type: P.Type,
    _ count: Int,
    _ cursor: inout ItemCursor,
    _ place: CodingPath
) throws -> [P] {
    var result: [P] = []
    result.reserveCapacity(cursor.reservation(of: type, count))
    for index in 0..<count {
        let usual = P.readUsual(&cursor)
        result.append(try usual ?? P.read(&cursor, at: CodingPath(node: place.open(), key: DataKey.index(index))))
    }
    return result
}
