import StatecastCoding
import StatecastJSON

/// The operations `add`, `remove` and `replace` of RFC 6902 over plain JSON values: each rebuilds the document.
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
        let path = tokens("path")
        switch operation["op"]?.textValue {
        case "add": return operation["value"].flatMap { add($0, path[...], document) }
        case "remove": return remove(path[...], document)
        case "replace":
            guard let value = operation["value"], find(path[...], document) != nil else { return nil }
            return path.isEmpty ? value : remove(path[...], document).flatMap { add(value, path[...], $0) }
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
    /// The value in its JSON view.
    ///
    /// - Throws: `duplicateKey` where two keys look alike.
    var view: Value {
        get throws { try JSON.value(parsing: JSON.text(of: self)) }
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
}
