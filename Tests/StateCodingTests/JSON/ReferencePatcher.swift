import StateCoding

/// RFC 6902 over plain JSON values, in the simplest way: each operation rebuilds the document.
enum ReferencePatcher {
    /// - Returns: `nil` if an operation fails.
    static func result(of operations: Value, on base: Value) -> Value? {
        (operations.arrayValue ?? []).reduce(base) { document, operation in
            document.flatMap { perform(operation, on: $0) }
        }
    }

    private static func perform(_ operation: Value, on document: Value) -> Value? {
        func tokens(_ member: String) -> [String] {
            (operation[member]?.textValue ?? "").split(separator: "/", omittingEmptySubsequences: false).dropFirst()
                .map { String($0).replacing("~1", with: "/").replacing("~0", with: "~") }
        }
        let (path, from) = (tokens("path"), tokens("from"))
        switch operation["op"]?.textValue {
        case "add": return operation["value"].flatMap { add($0, path[...], document) }
        case "remove": return remove(path[...], document)
        case "replace":
            guard let value = operation["value"], find(path[...], document) != nil else { return nil }
            return path.isEmpty ? value : remove(path[...], document).flatMap { add(value, path[...], $0) }
        case "move":
            guard let value = find(from[...], document) else { return nil }
            if path == from { return document }
            if path.starts(with: from) { return nil }
            return remove(from[...], document).flatMap { add(value, path[...], $0) }
        case "copy": return find(from[...], document).flatMap { add($0, path[...], document) }
        case "test": return find(path[...], document) == operation["value"] ? document : nil
        default: return nil
        }
    }

    private static func find(_ path: ArraySlice<String>, _ document: Value) -> Value? {
        guard let token = path.first else { return document }
        return child(token, document).flatMap { find(path.dropFirst(), $0) }
    }

    private static func child(_ token: String, _ document: Value) -> Value? {
        switch document {
        case .map: document[token]
        case .array: index(token).flatMap { document[$0] }
        default: nil
        }
    }

    private static func index(_ token: String) -> Int? {
        Int(token).flatMap { "\($0)" == token ? $0 : nil }
    }

    private static func add(_ value: Value, _ path: ArraySlice<String>, _ document: Value) -> Value? {
        guard let token = path.first else { return value }
        if path.count > 1 {
            return child(token, document).flatMap { add(value, path.dropFirst(), $0) }
                .flatMap { set(token, $0, document) }
        }
        switch document {
        case .map(var map):
            map[.text(token)] = value
            return .map(map)
        case .array(var elements):
            guard let index = token == "-" ? elements.count : index(token), (0...elements.count).contains(index) else {
                return nil
            }
            elements.insert(value, at: index)
            return .array(elements)
        default: return nil
        }
    }

    private static func remove(_ path: ArraySlice<String>, _ document: Value) -> Value? {
        guard let token = path.first, let inner = child(token, document) else { return nil }
        if path.count > 1 { return remove(path.dropFirst(), inner).flatMap { set(token, $0, document) } }
        return set(token, nil, document)
    }

    private static func set(_ token: String, _ value: Value?, _ document: Value) -> Value? {
        switch document {
        case .map(var map):
            map[.text(token)] = value
            return .map(map)
        case .array(var elements):
            guard let index = index(token) else { return nil }
            elements.replaceSubrange(index...index, with: value.map { [$0] } ?? [])
            return .array(elements)
        default: return nil
        }
    }
}

extension Value {
    /// What JSON shows of the value.
    ///
    /// - Throws: `duplicateKey` where two keys look alike.
    var view: Value {
        get throws { try JSON.value(parsing: JSON.text(of: self)) }
    }

    fileprivate var children: [(String, Value)] {
        switch self {
        case .map(let map): map.map { ($0.key.textValue ?? "", $0.value) }
        case .array(let elements): elements.enumerated().map { ("\($0.offset)", $0.element) }
        default: []
        }
    }
}

extension SeededGenerator {
    /// A value with parts.
    mutating func document() -> Value {
        ["a": .array((0..<below(4)).map { _ in value(depth: 2) }), "m": ["k": value(), 1: value()], "v": value()]
    }

    /// A patch of one step, or of a few.
    mutating func patch(of value: Value) -> Patch {
        var (current, composed) = (value, Patch.none)
        for _ in 0..<(1 + below(3)) {
            let next = changed(current)
            composed = composed.composed(with: Patch(from: current, to: next))
            current = next
        }
        return composed
    }

    /// An operation, which may fit.
    mutating func operation(on base: Value) -> Value {
        let name = pick(["add", "add", "remove", "replace", "move", "copy", "test"])
        var operation: ValueMap = ["op": .text(name), "path": .text(pointer(into: base))]
        operation["from"] = .text(pointer(into: base))
        operation["value"] = (try? value(depth: 1).view) ?? 1
        return .map(operation)
    }

    private mutating func pointer(into base: Value) -> String {
        var (value, result) = (base, "")
        while below(4) > 0, let child = value.children.randomElement(using: &self) {
            result += "/" + child.0.replacing("~", with: "~0").replacing("/", with: "~1")
            value = child.1
        }
        if below(4) == 0 { result += pick(["/0", "/1", "/-", "/a", "/new"]) }
        return result
    }
}
