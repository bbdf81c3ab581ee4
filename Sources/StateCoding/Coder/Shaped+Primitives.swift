/// A value without parts: it changes as a whole.
protocol Primitive: ShapedEncodable, ShapedDecodable {
    var tree: Value { get }
    init?(tree: Value)
    static var sample: Self { get }
    /// What a message says was expected.
    static var expected: String { get }
    static var schemaShape: SchemaShape { get }
}

extension Primitive {
    func shape(at place: Place) -> Value { tree }

    static func change(from old: Self, to new: Self, at place: Place, path: DigestPath) -> Change? {
        Change.replacing(old.tree, with: new.tree, path: path)
    }

    static func unshape(_ value: Value, at place: Place) throws -> Self {
        let content = value.untagged
        if let result = Self(tree: content) { return result }
        if content.isNull { throw place.failure(.missingValue, "expected \(expected), got null") }
        let isNumber = sample.tree.doubleValue != nil && content.doubleValue != nil
        let code: CodingFailure.Code = isNumber ? .outOfRange : .typeMismatch
        throw place.failure(
            code,
            "expected \(isNumber ? "\(expected) that fits \(Self.self)" : expected), got \(content.summary)"
        )
    }

    static func schemaShape(in probe: SchemaProbe) -> SchemaShape { schemaShape }
}

extension Value {
    /// The content, whatever tags are around it: a tag says how to read a value, not what it holds.
    var untagged: Value {
        var value = self
        while case .tagged(_, let content) = value { value = content }
        return value
    }
}

extension Bool: Primitive {
    var tree: Value { .bool(self) }
    init?(tree: Value) {
        guard let value = tree.boolValue else { return nil }
        self = value
    }
    static var sample: Bool { false }
    static var expected: String { "a bool" }
    static var schemaShape: SchemaShape { .bool }
}

extension String: Primitive {
    var tree: Value { .text(self) }
    init?(tree: Value) {
        guard let value = tree.textValue else { return nil }
        self = value
    }
    static var sample: String { "" }
    static var expected: String { "a text" }
    static var schemaShape: SchemaShape { .text }
}

extension Primitive where Self: FixedWidthInteger {
    var tree: Value { Value(self) }
    init?(tree: Value) {
        guard let value = tree.integer(Self.self) else { return nil }
        self = value
    }
    static var sample: Self { 0 }
    static var expected: String { "an integer" }
    static var schemaShape: SchemaShape { .integer }
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
    /// Integers that a `Double` holds exactly are numbers like any other; the JSON view's words are understood too.
    init?(tree: Value) {
        switch tree {
        case .float(let value): self = value
        case .unsigned(let value):
            guard let value = Double(exactly: value) else { return nil }
            self = value
        case .negative:
            guard let value = tree.integer(Int64.self).flatMap({ Double(exactly: $0) }) else { return nil }
            self = value
        case .text(let word):
            guard let value = JSON.nonFinite(word) else { return nil }
            self = value
        default: return nil
        }
    }
    static var sample: Double { 0 }
    static var expected: String { "a number" }
    static var schemaShape: SchemaShape { .float }
}

extension Float: Primitive {
    var tree: Value { .float(Double(self)) }
    /// Rounds, as 0.1 typed by a user is no `Float`; refuses what would become infinite.
    init?(tree: Value) {
        guard let value = Double(tree: tree) else { return nil }
        self = Float(value)
        if isInfinite && value.isFinite { return nil }
    }
    static var sample: Float { 0 }
    static var expected: String { "a number" }
    static var schemaShape: SchemaShape { .float }
}
