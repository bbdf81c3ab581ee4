/// An open container on the way from the root to the field at work.
class PathNode {
    /// `nil` for the root, which holds the whole value.
    // Set where nothing else can run: the check for that would take longer than the setting.
    @exclusivity(unchecked) final private(set) var parent: PathNode?
    @exclusivity(unchecked) final private(set) var key: (any CodingKey)?
    /// How many containers are open, this one included.
    final private(set) var depth: Int
    final private(set) var limits: CodingLimits

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

    /// Makes a node that nobody else holds one of another place.
    @inline(__always)
    final func move(under key: (any CodingKey)?, in parent: PathNode) {
        self.parent = parent
        self.key = key
        depth = parent.depth + 1
        limits = parent.limits
    }

    /// Lets go of the place.
    @inline(__always)
    final func leave() {
        parent = nil
        key = nil
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
    /// Finds out whether a container could be opened here, for one whose elements need no node.
    ///
    /// - Throws: `tooDeep`.
    @inline(__always)
    func requireDepth() throws(CodingFailure) {
        if node.depth >= node.limits.depthMax { _ = try open() }
    }

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
