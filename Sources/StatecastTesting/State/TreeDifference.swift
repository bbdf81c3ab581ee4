internal import StateCoding

/// The first place where two trees differ.
struct TreeDifference {
    let path: [String]
    /// `nil` where there is nothing.
    let left: Value?
    /// `nil` where there is nothing.
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

    /// Both sides in words.
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
