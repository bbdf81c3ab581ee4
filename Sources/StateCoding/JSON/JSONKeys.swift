/// Finds the key of a map that a name in JSON stands for.
struct JSONKeys {
    private let map: ValueMap
    /// Made when first needed: it takes the names of all keys.
    private var byName: [String: Value]?

    init(_ map: ValueMap) {
        self.map = map
    }

    /// The key of this name, of those that are there: the text, before one that only looks like it in JSON.
    mutating func existing(_ name: String, isThere: (Value) -> Bool) -> Value? {
        let text = Value.text(name).canonical
        if isThere(text) { return text }
        let candidates = Self.candidates(name)
        if let key = candidates.first(where: isThere) { return key }
        if isEveryName(in: candidates) { return nil }
        if byName == nil {
            byName = Dictionary(map.keys.map { (JSON.name(ofKey: $0), $0) }) { first, _ in first }
        }
        return byName?[name].flatMap { isThere($0) ? $0 : nil }
    }

    /// The key for a name that is not there yet: of the kind of all other keys where the name allows it, as in a
    /// dictionary with integer keys; else a text.
    func new(_ name: String) -> Value {
        guard let first = map.first?.key, let last = map.last?.key else { return .text(name.canonical) }
        // The keys are sorted by kind, so those in between are of the same one.
        let alike = Self.candidates(name).first { $0.isKeyLike(first) && $0.isKeyLike(last) }
        return alike ?? .text(name.canonical)
    }

    /// The usual keys that are called so, besides the text.
    private static func candidates(_ name: String) -> [Value] {
        var result: [Value] = []
        if let bytes = UUIDForm.bytes(name) { result.append(.tagged(UUIDForm.tag, .bytes(bytes))) }
        if let value = try? JSON.value(parsing: name), value.textValue == nil { result.append(value.canonical) }
        result.append(.tagged(JSON.uriTag, .text(name.canonical)))
        return result.filter { JSON.name(ofKey: $0) == name }
    }

    /// Whether no key but the candidates can be called as they are.
    private func isEveryName(in candidates: [Value]) -> Bool {
        guard let first = map.first?.key, let last = map.last?.key else { return true }
        switch (first, last) {
        case (.text, .text), (.unsigned, .unsigned), (.unsigned, .negative), (.negative, .negative): return true
        case (.tagged(UUIDForm.tag, _), .tagged(UUIDForm.tag, _)): return candidates.contains { $0.isKeyLike(first) }
        default: return false
        }
    }
}

extension Value {
    fileprivate func isKeyLike(_ other: Value) -> Bool {
        switch (self, other) {
        case (.unsigned, .unsigned), (.unsigned, .negative), (.negative, .unsigned), (.negative, .negative): true
        case (.float, .float), (.bool, .bool), (.array, .array), (.map, .map): true
        case (.tagged(let left, _), .tagged(let right, _)): left == right
        default: false
        }
    }
}
