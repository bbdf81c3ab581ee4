/// What JSON sees of a value: tags and kinds that it does not know are gone.
package enum JSONForm {
    case null
    case bool(Bool)
    /// An integer, a float that is finite, or tag 2, 3 or 4.
    case number(Value)
    case text(String)
    case array([Value])
    case map(ValueMap)

    package init(_ value: Value) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .unsigned, .negative: self = .number(value)
        case .float(let float): self = JSON.word(for: float).map { .text($0) } ?? .number(value)
        case .text(let value): self = .text(value)
        case .bytes(let value): self = .text(Base64.text(value))
        case .array(let value): self = .array(value)
        case .map(let value): self = .map(value)
        case .tagged(let tag, let content):
            switch JSON.form(ofTag: tag, content) {
            case .text(let text)?: self = .text(text)
            case .number?: self = .number(value)
            case nil: self.init(content)
            }
        }
    }
}

extension Value {
    /// Whether both are one value in JSON, as the operation `test` compares (RFC 6902, section 4.6): numbers by what they
    /// mean, objects in any order.
    func isSameInJSON(as other: Value) -> Bool {
        switch (JSONForm(self), JSONForm(other)) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)):
            left == right || DecimalNumber(left).map { $0 == DecimalNumber(right) } ?? false
        case (.text(let left), .text(let right)): left == right
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isSameInJSON(as: $1) }
        case (.map(let left), .map(let right)): left.isSameInJSON(as: right)
        default: false
        }
    }
}

extension ValueMap {
    fileprivate func isSameInJSON(as other: ValueMap) -> Bool {
        guard count == other.count else { return false }
        if keys == other.keys { return zip(self, other).allSatisfy { $0.value.isSameInJSON(as: $1.value) } }
        let others = Dictionary(other.map { (JSON.name(ofKey: $0.key), $0.value) }) { first, _ in first }
        return allSatisfy { others[JSON.name(ofKey: $0.key)]?.isSameInJSON(as: $0.value) ?? false }
    }
}
