extension Bool: Primitive {
    var tree: Value { .bool(self) }
    init?(tree: Value) {
        guard let value = tree.boolValue else { return nil }
        self = value
    }
    func write(to writer: inout CBORWriter) { writer.bool(self) }
    @inline(__always)
    static func readUsual(_ cursor: inout ItemCursor) -> Bool? { cursor.takeBool() }
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
    static func readUsual(_ cursor: inout ItemCursor) -> String? { cursor.takeText() }
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
    static func readUsual(_ cursor: inout ItemCursor) -> Self? { cursor.takeInteger() }
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
    /// Integers that a `Double` holds exactly are numbers like any other; the JSON view's words are understood too.
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
    static func readUsual(_ cursor: inout ItemCursor) -> Double? { cursor.takeFloat() }
    static var sample: Double { 0 }
    static var expected: String { "a number" }
}

extension Float: Primitive {
    var tree: Value { .float(Double(self)) }
    /// Rounds, as 0.1 typed by a user is no `Float`; refuses what would become infinite.
    init?(tree: Value) {
        guard let value = Double(tree: tree) else { return nil }
        self = Float(value)
        if isInfinite && value.isFinite { return nil }
    }
    func write(to writer: inout CBORWriter) { writer.float(Double(self)) }
    static var sample: Float { 0 }
    static var expected: String { "a number" }
}
