/// An array while operations change it: what it was, and the elements that were gone into. Only where one comes or goes,
/// all are taken along.
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
    private let elements: [Value]
    /// The elements that were gone into, as long as all are where they were.
    private var parts: [Int: JSONDraft] = [:]
    /// All elements, once indexes are not what they were.
    private var shifted: [Element]?

    init(_ elements: [Value], original: Value) {
        self.elements = elements
        self.original = original
    }

    private var count: Int { shifted?.count ?? elements.count }

    func part(_ token: String) throws(CodingFailure) -> JSONDraft {
        let index = try Self.index(token, count: count)
        switch shifted?[index] ?? parts[index].map({ .part($0) }) ?? .untouched(elements[index]) {
        case .part(let part): return part
        case .untouched(let value):
            let part = JSONDraft(original: value, value)
            if shifted == nil { parts[index] = part } else { shifted?[index] = .part(part) }
            return part
        }
    }

    func insert(_ value: Value, _ token: String) throws(CodingFailure) {
        let index = token == "-" ? count : try Self.index(token, count: count + 1)
        shift()
        shifted?.insert(.untouched(value), at: index)
    }

    func remove(_ token: String) throws(CodingFailure) {
        let index = try Self.index(token, count: count)
        shift()
        shifted?.remove(at: index)
    }

    private func shift() {
        guard shifted == nil else { return }
        shifted = elements.indices.map { index in parts[index].map { .part($0) } ?? .untouched(elements[index]) }
        parts = [:]
    }

    static func index(_ token: String, count: Int) throws(CodingFailure) -> Int {
        guard let index = JSONPointer.index(token), index < count else {
            let expected = count > 0 ? "an index from 0 to \(count - 1)" : "an array that is not empty"
            throw CodingFailure(.patchMismatch, "expected \(expected), got \(Value.text(token).summary)")
        }
        return index
    }

    var value: Value {
        if let shifted { return original.retagging(.array(shifted.map(\.value))) }
        var elements = elements
        for (index, part) in parts { elements[index] = part.value }
        return original.retagging(.array(elements))
    }

    var change: Patch? {
        // A patch never goes into a tagged value, and `difference` does not either.
        guard shifted == nil && !original.isTagged else { return Patch.difference(from: original, to: value) }
        var fields = KeyedEntries<Patch.FieldChange>()
        for (index, part) in parts.sorted(by: { $0.key < $1.key }) {
            if let change = part.change { fields.append(Value(index), .change(change)) }
        }
        return fields.count > 0 ? Patch(.fields(fields)) : nil
    }
}
