import StatecastCoding
import StatecastJSON
import StatecastProtocol

/// Writes a place of a state and its children, a page at a time.
struct StateNodes {
    /// The parameters of a request.
    struct Page {
        var depth = 1
        var limit = 200
        /// The key before the first child.
        var after: String?
    }

    /// What is hidden, from the root on.
    let hidden: HiddenPaths
    /// When each child was last changed; `nil`: omitted.
    let changes: ChangeIndex?

    /// Values of more bytes are cut.
    static let maxValueBytes = 4 << 10
    /// A page ends early where the answer reaches this size.
    static let maxBytes = 900 << 10
    private static let maxSummary = 120

    /// Writes the members of a place: its type, and its value or children.
    func write(_ value: Value, at path: [String], _ page: Page, to writer: inout JSONWriter) {
        writer.member("path", JSONPointer.text(of: path))
        write(value, at: path, hidden.inside(path), page, to: &writer)
        if let changes { writer.member("seenFrom", changes.completeAfter) }
    }

    private func write(
        _ value: Value,
        at path: [String],
        _ hidden: HiddenPaths,
        _ page: Page,
        to writer: inout JSONWriter
    ) {
        writer.member("type", value.jsonType)
        switch PlainForm(value) {
        case .map(let map):
            writer.member("count", hidden.isEmpty ? map.count : map.keys.count { !hidden.hides($0) })
            let start = page.after.map { map.offset(after: $0) } ?? 0
            let entries = map[map.index(at: start)...].lazy.filter { !hidden.hides($0.key) }
            children(entries.map { ($0.key.keyName, $0.value) }, at: path, hidden, page, to: &writer)
        case .array(let elements):
            writer.member("count", elements.count)
            let start = page.after.flatMap { Int($0) }.map { min(max($0, -1), elements.count - 1) + 1 } ?? 0
            let children = elements.indices[start...].lazy.map { ("\($0)", elements[$0]) }
            self.children(children, at: path, hidden, page, to: &writer)
        default: Self.leaf(value, to: &writer)
        }
    }

    private func children(
        _ children: some Sequence<(String, Value)>,
        at path: [String],
        _ hidden: HiddenPaths,
        _ page: Page,
        to writer: inout JSONWriter
    ) {
        var (last, next) = (nil as String?, nil as String?)
        writer.array("children") { writer in
            var left = page.limit
            for (key, child) in children {
                guard left > 0, writer.bytes.count < Self.maxBytes else {
                    // An empty key: from the beginning.
                    next = last ?? ""
                    break
                }
                (left, last) = (left - 1, key)
                writer.object { write(child: child, key, at: path + [key], hidden.inside { key }, page, to: &$0) }
            }
        }
        writer.member("next", next)
    }

    private func write(
        child: Value,
        _ key: String,
        at path: [String],
        _ hidden: HiddenPaths,
        _ page: Page,
        to writer: inout JSONWriter
    ) {
        writer.member("key", key)
        if hidden.hidesAll {
            writer.member("type", "null")
            writer.member("value", nil as String?)
        } else if child.isContainer, page.depth > 1 {
            write(child, at: path, hidden, Page(depth: page.depth - 1, limit: page.limit), to: &writer)
        } else {
            Self.brief(child, hiding: hidden, to: &writer)
        }
        if let change = changes?.last(at: path) {
            writer.object("changed") { writer in
                writer.member("revision", change.revision)
                writer.member("action", change.action)
            }
        }
    }

    /// Writes the type of a value, and the value or, of a container, its size and a summary.
    static func brief(_ value: Value, hiding hidden: HiddenPaths, to writer: inout JSONWriter) {
        writer.member("type", value.jsonType)
        guard let count = value.count else { return leaf(value, to: &writer) }
        writer.member("count", count)
        writer.member("summary", summary(of: value, hiding: hidden))
    }

    private static func leaf(_ value: Value, to writer: inout JSONWriter) {
        writer.key("value")
        guard case .text(let text) = PlainForm(value), text.utf8.count > maxValueBytes else {
            return writer.value(value, hiding: HiddenPaths([]))
        }
        let end = text.utf8.index(text.startIndex, offsetBy: maxValueBytes)
        // Whole characters of the text; of bytes, base64 of whole groups.
        let beginning = Substring(text.unicodeScalars[..<end])
        if case .bytes(let bytes) = value {
            writer.object { $0.member("$bytes", beginning) }
            writer.member("cut", bytes.count)
        } else {
            writer.string(beginning)
            writer.member("cut", text.utf8.count)
        }
    }

    /// Writes a value; one of more than `maxBytes` as its type and size.
    static func limited(
        _ value: Value,
        maxBytes: Int = maxValueBytes,
        hiding hidden: HiddenPaths,
        to writer: inout JSONWriter
    ) {
        var content = JSONWriter(maxBytes: maxBytes)
        content.value(value, hiding: hidden)
        guard content.isTooLarge else { return writer.json(content.bytes) }
        writer.cut(value.jsonType, value.count ?? content.bytes.count)
    }

    /// The first entries of a container, in one short line: `{busy 0.3, load 0.1, …}`.
    static func summary(of value: Value, hiding hidden: HiddenPaths) -> String {
        let (open, close, parts): (String, String, [(String, Value)])
        switch PlainForm(value) {
        case .map(let map):
            let first = map.lazy.filter { !hidden.hides($0.key) }.prefix(8)
            (open, close, parts) = ("{", "}", first.map { ($0.key.keyName + " ", $0.value) })
        case .array(let elements):
            let first = elements.prefix(8).enumerated().filter { index, _ in !hidden.inside { "\(index)" }.hidesAll }
            (open, close, parts) = ("[", "]", first.map { ("", $0.element) })
        default: return ""
        }
        var text = open
        for (index, (name, part)) in parts.enumerated() {
            text += (index > 0 ? ", " : "") + name.prefix(40)
            switch PlainForm(part) {
            case .map: text += "{…}"
            case .array(let elements): text += "[\(elements.count)]"
            case .text(let string): text += String(string.prefix(40))
            default: text += part.description
            }
            if text.count > maxSummary { break }
        }
        let isWhole = (value.count ?? 0) <= parts.count && text.count <= maxSummary
        return String(text.prefix(maxSummary)) + (isWhole ? close : ", …" + close)
    }
}

extension HiddenPaths {
    /// Whether the value under a key is hidden as a whole.
    fileprivate func hides(_ key: Value) -> Bool { !isEmpty && inside { key.keyName }.hidesAll }
}

extension Value {
    /// The type as JSON names it.
    var jsonType: String {
        switch PlainForm(self) {
        case .null: "null"
        case .bool: "boolean"
        case .number: "number"
        case .text: if case .bytes = self { "bytes" } else if case .float = self { "number" } else { "string" }
        case .array: "array"
        case .map: "object"
        }
    }

    /// The number of parts; `nil` for a scalar.
    var count: Int? {
        switch PlainForm(self) {
        case .array(let elements): elements.count
        case .map(let map): map.count
        default: nil
        }
    }

    var isContainer: Bool { count != nil }
}
