import StatecastCoding

/// A typical change of one place in a tree.
struct TreeVariation {
    enum Change {
        /// Another value of the same kind.
        case other
        case removal
        /// Repeats an array's last element.
        case repetition
        case addition(Value)
    }

    let steps: [TreeStep]
    let change: Change

    /// The trees with that change, the most typical first. A type need not accept any of them.
    func trees(of root: Value) -> [Value] {
        let part = root[steps[...]]
        let parts: [Value?] =
            switch (change, part) {
            case (.other, let part?): part.others
            case (.removal, _): [nil]
            case (.repetition, .array(let elements)?): [.array(elements + elements.suffix(1))]
            case (.addition(let value), _): [value]
            default: []
            }
        return parts.compactMap { root.with($0, at: steps[...]) }
    }

    /// All variations of a tree, from the first place to the last.
    ///
    /// - Parameter example: another tree of the same type; its additional fields are added.
    static func all(of root: Value, example: Value?) -> [TreeVariation] {
        var variations: [TreeVariation] = []
        collect(root, example, [], &variations)
        return variations
    }

    private static func collect(
        _ value: Value,
        _ example: Value?,
        _ steps: [TreeStep],
        _ variations: inout [TreeVariation]
    ) {
        switch value {
        case .map(let map):
            for (key, part) in map {
                let steps = steps + [.key(key)]
                collect(part, example?.mapValue?[key], steps, &variations)
                variations.append(TreeVariation(steps: steps, change: .removal))
            }
            for (key, part) in example?.mapValue ?? ValueMap() where map[key] == nil {
                variations.append(TreeVariation(steps: steps + [.key(key)], change: .addition(part)))
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                collect(element, nil, steps + [.element(index)], &variations)
            }
            guard !elements.isEmpty else { break }
            let last = steps + [.element(elements.count - 1)]
            variations.append(TreeVariation(steps: last, change: .removal))
            variations.append(TreeVariation(steps: steps, change: .repetition))
        case .tagged(_, let content): collect(content, nil, steps + [.content], &variations)
        default: variations.append(TreeVariation(steps: steps, change: .other))
        }
    }
}

extension Value {
    /// Other values of the same kind, the most typical first.
    var others: [Value] {
        switch self {
        case .null: []
        case .bool(let value): [.bool(!value)]
        case .unsigned(let value):
            (value < .max ? [.unsigned(value + 1)] : []) + (value > 0 ? [.unsigned(value - 1)] : [])
        case .negative(let value):
            [value > 0 ? .negative(value - 1) : .unsigned(0)] + (value < .max ? [.negative(value + 1)] : [])
        case .float(let value): [.float(value + 1), .float(value / 2), .float(0)].filter { $0 != self }
        case .text(let value): [.text(value + "x")]
        // Some types have a fixed number of bytes.
        case .bytes(let value): [.bytes(value + [0]), .bytes(value.dropLast() + value.suffix(1).map { $0 ^ 1 })]
        case .array(let elements): elements.first?.others.map { .array([$0] + elements.dropFirst()) } ?? []
        case .map(var map):
            map.first.map { key, part in
                part.others.map { other in
                    map[key] = other
                    return .map(map)
                }
            } ?? []
        case .tagged(let tag, let content): content.others.map { .tagged(tag, $0) }
        }
    }

    /// The number of values in the tree.
    var nodeCount: Int {
        switch self {
        case .array(let elements): elements.reduce(1) { $0 + $1.nodeCount }
        case .map(let map): map.reduce(1) { $0 + $1.value.nodeCount }
        case .tagged(_, let content): 1 + content.nodeCount
        default: 1
        }
    }
}
