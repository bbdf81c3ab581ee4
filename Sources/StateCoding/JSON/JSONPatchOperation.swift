/// An operation of a JSON Patch (RFC 6902, section 4).
struct JSONPatchOperation {
    enum Action {
        case add(Value)
        case remove
        case replace(Value)
        case move(from: JSONPointer)
        case copy(from: JSONPointer)
        case test(Value)
    }

    let action: Action
    let path: JSONPointer

    /// Reads `{"op":"add","path":"/a","value":1}`; members that an operation does not need are ignored.
    ///
    /// - Throws: `malformed`.
    init(_ tree: Value) throws(CodingFailure) {
        guard let name = tree["op"]?.textValue else {
            throw CodingFailure(.malformed, "expected an object with a text \"op\", got \(tree.summary)")
        }
        path = try Self.pointer("path", tree)
        switch name {
        case "add": action = .add(try Self.value(tree))
        case "remove": action = .remove
        case "replace": action = .replace(try Self.value(tree))
        case "move": action = .move(from: try Self.pointer("from", tree))
        case "copy": action = .copy(from: try Self.pointer("from", tree))
        case "test": action = .test(try Self.value(tree))
        default:
            let expected = "add, remove, replace, move, copy or test"
            throw CodingFailure(.malformed, "expected \(expected), got \(Value.text(name).summary)")
        }
    }

    private static func pointer(_ member: String, _ tree: Value) throws(CodingFailure) -> JSONPointer {
        guard let text = tree[member]?.textValue else {
            throw CodingFailure(
                .malformed,
                "expected a pointer as \"\(member)\", got \(tree[member]?.summary ?? "none")"
            )
        }
        return try JSONPointer(text)
    }

    private static func value(_ tree: Value) throws(CodingFailure) -> Value {
        guard let value = tree["value"] else { throw CodingFailure(.malformed, "expected a \"value\", got none") }
        return value
    }
}
