/// An open container on the way from the root to the field at work.
class PathNode {
    /// `nil` for the root, which holds the whole value.
    final let parent: PathNode?
    final let key: (any CodingKey)?
    /// How many containers are open, this one included.
    final let depth: Int
    final let limits: CodingLimits

    /// The root.
    init(limits: CodingLimits) {
        parent = nil
        key = nil
        depth = 0
        self.limits = limits
    }

    init(under key: (any CodingKey)?, in parent: PathNode) {
        self.parent = parent
        self.key = key
        depth = parent.depth + 1
        limits = parent.limits
    }

    /// The keys from the root to this container.
    final var path: [any CodingKey] {
        var reversed: [any CodingKey] = []
        var next: PathNode? = self
        while let node = next {
            if let key = node.key { reversed.append(key) }
            next = node.parent
        }
        return reversed.reversed()
    }

    /// - Throws: `tooDeep`.
    final func checkDepth() throws(CodingFailure) {
        guard depth > limits.depthMax else { return }
        throw failure(.tooDeep, "expected at most \(limits.depthMax) levels, got more")
    }

    final func failure(_ code: CodingFailure.Code, _ message: String) -> CodingFailure {
        CodingFailure(code, message, path: path.map(\.component))
    }
}

/// Where a value stands: a key in an open container. Costs nothing until a path is asked for.
struct Place {
    let node: PathNode
    /// `nil` for the root.
    let key: (any CodingKey)?

    /// Where a whole value stands.
    static func root(_ limits: CodingLimits) -> Place { Place(node: PathNode(limits: limits), key: nil) }

    var codingPath: [any CodingKey] { key.map { node.path + [$0] } ?? node.path }

    /// Opens a container here.
    ///
    /// - Throws: `tooDeep`.
    func open() throws(CodingFailure) -> PathNode {
        let opened = PathNode(under: key, in: node)
        try opened.checkDepth()
        return opened
    }

    func failure(_ code: CodingFailure.Code, _ message: String) -> CodingFailure {
        CodingFailure(code, message, path: codingPath.map(\.component))
    }
}
