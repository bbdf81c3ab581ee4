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
    /// Whether `init(tree:)` reads tags and containers itself. A tag that it refuses is not ignored then, and a value
    /// has exactly the form in which it is written, except in JSON.
    static var readsTrees: Bool { get }
}

extension Primitive {
    @inline(__always)
    var isReadable: Bool { true }

    /// The failure for a value that only the payload of an action may have.
    private static func inexact(_ value: Value, at place: CodingPath) -> CodingFailure {
        place.failure(
            .typeMismatch,
            "expected \(Self.self) as it is encoded, got \(value.summary): other forms, such as those of "
                + "JSON, are accepted in the payloads of actions only"
        )
    }

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
    static var readsTrees: Bool { false }

    static func read(_ cursor: inout ItemCursor, at place: CodingPath) throws -> Self {
        if let usual = readUsual(&cursor) { return usual }
        // A container may be large, and would be refused.
        if !readsTrees && cursor.isContainer { throw cursor.mismatch(expected, at: place) }
        let value = cursor.value()
        guard let result = Self(tree: value) ?? (readsTrees ? nil : Self(tree: value.untagged)) else {
            throw misfit(value, at: place)
        }
        // A type that tries several types in turn would get a wrong one of another form.
        let isExact = readsTrees ? result.tree == value : result.tree.isWritten(for: value)
        if isExact || cursor.source.acceptsJSONForms() { return result }
        throw inexact(value, at: place)
    }

    private static func misfit(_ value: Value, at place: CodingPath) -> CodingFailure {
        let content = value.untagged
        if content.isNull { return place.failure(.missingValue, "expected \(expected), got null") }
        let number = DecimalNumber(sample.tree) == nil ? nil : DecimalNumber(value)?.text
        let isNumber = number != nil
        let code: CodingFailure.Code = isNumber ? .outOfRange : .typeMismatch
        // Large numbers are tagged bytes.
        let isLarge = content.doubleValue == nil
        let came = number.flatMap { $0.utf8.count > 40 || !isLarge ? nil : "the number \($0)" } ?? content.summary
        return place.failure(
            code,
            "expected \(isNumber ? "\(expected) that fits \(Self.self)" : expected), got \(came)"
        )
    }
}

extension Value {
    /// Whether a scalar that the encoder writes as this value may come as `value`: integers count as exact floats, and
    /// tags are ignored.
    fileprivate func isWritten(for value: Value) -> Bool {
        switch (value, self) {
        case (.text, .text), (.bool, .bool), (.unsigned, .unsigned), (.negative, .negative): true
        case (.float(let came), .float(let written)): written == came || came.isNaN
        case (.unsigned(let came), .float(let written)): written == Double(came)
        case (.negative(let came), .float(let written)): written == -1 - Double(came)
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
