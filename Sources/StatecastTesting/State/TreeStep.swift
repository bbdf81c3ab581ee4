internal import StateCoding

/// A step from a tree to a part of it.
enum TreeStep {
    case key(Value)
    case element(Int)
    /// What a tag stands before.
    case content

    /// How messages name it. A tag has no name.
    var component: String {
        switch self {
        case .key(let key): key.textValue ?? "\(key)"
        case .element(let index): "\(index)"
        case .content: ""
        }
    }
}

extension [TreeStep] {
    /// The way as messages name it.
    var path: [String] {
        compactMap { step in
            if case .content = step { nil } else { step.component }
        }
    }
}

extension Value {
    /// The part at the end of a way.
    subscript(steps: ArraySlice<TreeStep>) -> Value? {
        guard let step = steps.first else { return self }
        let rest = steps.dropFirst()
        switch (step, self) {
        case (.key(let key), .map(let map)): return map[key]?[rest]
        case (.element(let index), .array): return self[index]?[rest]
        case (.content, .tagged(_, let content)): return content[rest]
        default: return nil
        }
    }

    /// The tree with another part at the end of a way, or with `nil` without that part.
    func with(_ part: Value?, at steps: ArraySlice<TreeStep>) -> Value? {
        guard let step = steps.first else { return part }
        let rest = steps.dropFirst()
        switch (step, self) {
        case (.key(let key), .map(var map)):
            map[key] = rest.isEmpty ? part : map[key]?.with(part, at: rest)
            return .map(map)
        case (.element(let index), .array(var elements)) where elements.indices.contains(index):
            if let element = elements[index].with(part, at: rest) {
                elements[index] = element
            } else {
                elements.remove(at: index)
            }
            return .array(elements)
        case (.content, .tagged(let tag, let content)):
            return content.with(part, at: rest).map { .tagged(tag, $0) }
        default: return self
        }
    }
}
