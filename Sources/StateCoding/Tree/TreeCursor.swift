/// A place in a tree: before a whole node, or in a leaf.
///
/// It goes into nodes only when told to, so that what is before it can be passed over without being touched. It follows
/// pointers without counting references: the tree must live on meanwhile.
struct TreeCursor {
    /// A node gone into, and which of its branches is next.
    private struct Step {
        let branches: UnsafeMutablePointer<TreeBranch>
        let width: Int
        var index: Int
    }

    /// A leaf gone into.
    struct Leaf {
        let keys: UnsafeMutableRawPointer
        let payloads: UnsafeMutableRawPointer
        let width: Int
    }

    private let root: Unmanaged<TreeNode>?
    private let height: Int
    private var path: [Step] = []
    /// The leaf that the place is in; `nil` before a node and at the end.
    private(set) var leaf: Leaf?
    /// Which entry of the leaf is next.
    private(set) var index = 0
    private(set) var isAtEnd: Bool

    init(_ root: TreeNode?) {
        self.root = root.map { Unmanaged.passUnretained($0) }
        height = root.map { Int($0.level) } ?? 0
        isAtEnd = root == nil
    }

    /// The level of the node that the place is before; -1 in a leaf and at the end.
    var level: Int { leaf != nil || isAtEnd ? -1 : height - path.count }

    /// The node that the place is before, or the leaf whose first entry is next, if it is of this level.
    func node(at level: Int) -> Unmanaged<TreeNode>? {
        guard level == height - path.count, index == 0, !isAtEnd else { return nil }
        guard level < height else { return root }
        let step = path[height - level - 1]
        return Unmanaged.passUnretained(step.branches[step.index].node)
    }

    /// Goes into the node that the place is before.
    mutating func descend() {
        guard let node = node(at: height - path.count), leaf == nil else { return }
        node._withUnsafeGuaranteedRef { node in
            if node.level == 0 {
                leaf = Leaf(keys: node.keyMemory, payloads: node.payloadMemory, width: node.width)
                index = 0
            } else {
                path.append(Step(branches: node.branches, width: node.width, index: 0))
            }
        }
    }

    /// Goes behind the node of a level that starts at the place, or that the place is in.
    mutating func skip(level: Int) {
        path.removeLast(path.count - (height - level))
        (leaf, index) = (nil, 0)
        while let last = path.last {
            if last.index + 1 < last.width {
                path[path.count - 1].index += 1
                return
            }
            path.removeLast()
        }
        isAtEnd = true
    }

    /// Goes on by so many entries of the leaf.
    mutating func advance(by entries: Int = 1) {
        index += entries
        if let leaf, index >= leaf.width { skip(level: 0) }
    }

    /// Goes to the entry at an offset; the place must be before the root.
    mutating func descend(to offset: Int) {
        var rest = offset
        while level > 0 {
            descend()
            guard let step = path.last else { return }
            var index = 0
            while rest >= step.branches[index].count {
                rest -= step.branches[index].count
                index += 1
            }
            path[path.count - 1].index = index
        }
        descend()
        index = rest
    }
}
