/// A value without parts: it changes as a whole.
protocol Primitive: ShapedEncodable, ShapedDecodable {
    var tree: Value { get }
    /// Whether readers take the value: all but some texts.
    var isReadable: Bool { get }
    /// Takes all forms in which the value may come.
    init?(tree: Value)
    /// Writes the value as one item.
    func write(to writer: inout CBORWriter)
    /// Reads the form in which the value is usually written, and moves behind it; `nil` for any other.
    static func readUsual(_ cursor: inout ItemCursor) -> Self?
    static var sample: Self { get }
    /// What a message says was expected.
    static var expected: String { get }
}

extension Primitive {
    @inline(__always)
    var isReadable: Bool { true }

    /// - Throws: `unencodable`.
    func tree(at place: Place) throws(CodingFailure) -> Value {
        guard isReadable else { throw place.failure(.unencodable, CodingFailure.tooManyMarks) }
        return tree
    }

    func write(to writer: inout CBORWriter) { writer.value(tree) }

    func write(to output: EncodingOutput, at place: Place) throws {
        guard isReadable else { throw place.failure(.unencodable, CodingFailure.tooManyMarks) }
        write(to: &output.writer)
    }

    static func readUsual(_ cursor: inout ItemCursor) -> Self? { nil }

    static func read(_ cursor: inout ItemCursor, at place: Place) throws -> Self {
        if let usual = readUsual(&cursor) { return usual }
        if cursor.isContainer { throw cursor.mismatch(expected, at: place) }
        return try unshape(cursor.value(), cursor.source, at: place)
    }

    private static func unshape(_ value: Value, _ source: DecodingSource, at place: Place) throws -> Self {
        // A tag says how to read a value; who does not know it reads the content.
        if let result = Self(tree: value) ?? Self(tree: value.untagged), source.takes(value, for: result.tree) {
            return result
        }
        let content = value.untagged
        if content.isNull { throw place.failure(.missingValue, "expected \(expected), got null") }
        let number = DecimalNumber(sample.tree) == nil ? nil : DecimalNumber(value)?.text
        let isNumber = number != nil
        let code: CodingFailure.Code = isNumber ? .outOfRange : .typeMismatch
        // Large numbers come as tagged bytes.
        let isLarge = content.doubleValue == nil
        let came = number.flatMap { $0.utf8.count > 40 || !isLarge ? nil : "the number \($0)" } ?? content.summary
        throw place.failure(
            code,
            "expected \(isNumber ? "\(expected) that fits \(Self.self)" : expected), got \(came)"
        )
    }

    static func change(from old: Self, to new: Self, at place: Place, path: DigestPath) throws -> Change? {
        Change.replacing(old.tree, with: try new.tree(at: place), path: path)
    }

}

extension Value {
    /// The content, whatever tags are around it.
    var untagged: Value {
        var value = self
        while case .tagged(_, let content) = value { value = content }
        return value
    }
}
