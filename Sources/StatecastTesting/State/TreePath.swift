import StatecastCoding

/// A step from a tree to a part of it.
enum TreeStep {
    case key(Value)
    case element(Int)
    /// The content of a tag.
    case content

    /// The name in messages. A tag has none.
    var component: String {
        switch self {
        case .key(let key): key.textValue ?? "\(key)"
        case .element(let index): "\(index)"
        case .content: ""
        }
    }
}

extension [TreeStep] {
    /// The path in messages.
    var path: [String] {
        compactMap { step in
            if case .content = step { nil } else { step.component }
        }
    }
}

extension Value {
    /// The part at the end of a path.
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

    /// The tree with another part at the end of a path, or without it if `part` is nil.
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

/// The first place where two trees differ.
struct TreeDifference {
    let path: [String]
    let left: Value?
    let right: Value?

    /// - Returns: `nil` if the trees are equal.
    init?(_ left: Value, _ right: Value) { self.init(left, right, at: []) }

    private init?(_ left: Value?, _ right: Value?, at path: [String]) {
        if left == right { return nil }
        self = Self.deeper(left, right, at: path) ?? TreeDifference(path: path, left: left, right: right)
    }

    init(path: [String], left: Value?, right: Value?) {
        (self.path, self.left, self.right) = (path, left, right)
    }

    private static func deeper(_ left: Value?, _ right: Value?, at path: [String]) -> TreeDifference? {
        switch (left, right) {
        case (.map(let left), .map(let right)):
            for key in left.keys + right.keys.filter({ left[$0] == nil }) {
                let found = TreeDifference(left[key], right[key], at: path + [TreeStep.key(key).component])
                if let found { return found }
            }
        case (.array(let left), .array(let right)) where left.count == right.count:
            for (index, (left, right)) in zip(left, right).enumerated() {
                if let found = TreeDifference(left, right, at: path + ["\(index)"]) { return found }
            }
        case (.tagged(let leftTag, let left), .tagged(let rightTag, let right)) where leftTag == rightTag:
            return TreeDifference(left, right, at: path)
        default: break
        }
        return nil
    }

    /// Both sides, for a message.
    var words: (left: String, right: String) { (Self.words(left), Self.words(right)) }

    private static func words(_ value: Value?) -> String {
        guard let value else { return "nothing" }
        switch value {
        case .array, .map:
            let text = "\(value)"
            return text.count <= 80 ? text : value.summary
        default: return value.summary
        }
    }
}
