/// The path of a part of a value, by the names of its keys (``Value/keyName``), or the index in an array.
///
/// A name belongs to the text key, and to any other key that is printed alike: `5` names the keys `"5"` and `5`.
package struct ValuePath: Hashable, Sendable {
    /// A component of the path.
    struct Step: Sendable {
        /// The encodings of the keys with its name, the likeliest first.
        let keys: [[UInt8]]
        /// The index, if the name is one.
        let index: Int?

        init(_ name: String) {
            keys = Value.keys(named: name).map(\.canonical.encoded)
            index = Value.index(named: name)
        }
    }

    package let names: [String]
    let steps: [Step]

    package init(_ names: some Sequence<String>) {
        self.names = Array(names)
        steps = self.names.map { Step($0) }
    }

    package static func == (left: ValuePath, right: ValuePath) -> Bool { left.names == right.names }

    package func hash(into hasher: inout Hasher) { hasher.combine(names) }
}

extension Value {
    /// The value at a dotted path: `value[path: "hosts.alpha.samples.3"]`.
    ///
    /// Each component is looked up as a text key of a map, then as an integer key, then as any other key whose name in
    /// JSON it is; in an array, as an index. The empty path is the value itself. Use subscripts for a key that contains
    /// a dot.
    public subscript(path path: String) -> Value? { part(at: path.split(separator: ".").map(String.init)) }

    /// The part at a path; `nil` if the value has nothing there.
    package func part(at names: some Sequence<String>) -> Value? {
        names.reduce(self as Value?) { value, name in value?.child(name) }
    }

    /// The value under the key with a name: the text, or else an integer, or else any other key; in an array, at an
    /// index.
    package func child(_ name: String) -> Value? {
        switch self {
        case .map(let map):
            map[.text(name)] ?? Self.integerKey(named: name).flatMap { map[$0] }
                ?? Self.rareKeys(named: name).lazy.compactMap { map[$0] }.first
        case .array: Self.index(named: name).flatMap { self[$0] }
        case .tagged(_, let content): content.child(name)
        default: nil
        }
    }

    /// The keys that ``child(_:)`` looks up, in its order.
    static func keys(named name: String) -> [Value] {
        [.text(name)] + (integerKey(named: name).map { [$0] } ?? []) + rareKeys(named: name)
    }

    /// One index has one name: `07` is none.
    static func index(named name: String) -> Int? {
        Int(name).flatMap { index in index >= 0 && index.description == name ? index : nil }
    }

    private static func integerKey(named name: String) -> Value? {
        let key = UInt64(name).map { Value($0) } ?? Int64(name).map { Value($0) }
        return key.flatMap { $0.keyName == name ? $0 : nil }
    }

    /// The keys with a name that are neither a text nor an integer.
    private static func rareKeys(named name: String) -> [Value] {
        var keys: [Value] = [.tagged(uriTag, .text(name))]
        if let id = UUIDForm.bytes(name) { keys.append(.tagged(UUIDForm.tag, .bytes(id))) }
        if let number = DecimalNumber(name) { keys.append(number.fraction) }
        if name.utf8.first == UInt8(ascii: "\"") {
            let content = String(name.dropFirst().dropLast())
            if let bytes = Base64.bytes(content) { keys.append(.bytes(bytes)) }
            if let number = Double(nonFinite: content) { keys.append(.float(number)) }
        }
        if let key = Value(keyName: name, limits: .standard) {
            switch key {
            case .text, .unsigned, .negative: break
            default: keys.append(key)
            }
        }
        // Other spellings of a number name no key.
        return keys.filter { $0.keyName == name }
    }
}
