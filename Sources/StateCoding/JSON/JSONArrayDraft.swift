/// An array while operations change it.
final class JSONArrayDraft {
    private enum Element {
        case untouched(Value)
        case part(JSONDraft)

        var value: Value {
            switch self {
            case .untouched(let value): value
            case .part(let part): part.value
            }
        }
    }

    /// With its tags, if it has any.
    let original: Value
    private var elements: [Element]
    /// Whether elements came or went, so that indexes are not what they were.
    private var isShifted = false

    init(_ elements: [Value], original: Value) {
        self.elements = elements.map { .untouched($0) }
        self.original = original
    }

    func part(_ token: String) throws(CodingFailure) -> JSONDraft {
        let index = try Self.index(token, count: elements.count)
        switch elements[index] {
        case .part(let part): return part
        case .untouched(let value):
            let part = JSONDraft(original: value, value)
            elements[index] = .part(part)
            return part
        }
    }

    func insert(_ value: Value, _ token: String) throws(CodingFailure) {
        let end = elements.count
        let index = token == "-" ? end : try Self.index(token, count: end + 1)
        elements.insert(.untouched(value), at: index)
        isShifted = true
    }

    func remove(_ token: String) throws(CodingFailure) {
        elements.remove(at: try Self.index(token, count: elements.count))
        isShifted = true
    }

    static func index(_ token: String, count: Int) throws(CodingFailure) -> Int {
        guard let index = JSONPointer.index(token), index < count else {
            let expected = count > 0 ? "an index from 0 to \(count - 1)" : "an array that is not empty"
            throw CodingFailure(.patchMismatch, "expected \(expected), got \(Value.text(token).summary)")
        }
        return index
    }

    var value: Value { original.retagging(.array(elements.map(\.value))) }

    var change: Patch? {
        // A patch never goes into a tagged value, and `difference` does not either.
        guard !isShifted && !original.isTagged else { return Patch.difference(from: original, to: value) }
        var fields = KeyedEntries<Patch.FieldChange>()
        for (index, element) in elements.enumerated() {
            guard case .part(let part) = element, let change = part.change else { continue }
            fields.append(Value(index), .change(change))
        }
        return fields.count > 0 ? Patch(.fields(fields)) : nil
    }
}
