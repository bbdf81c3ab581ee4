/// What one run of a coder shares.
final class CodingContext {
    let limits: CodingLimits
    /// Whether a class instance in the encoded tree is an error.
    let refusesClasses: Bool

    init(limits: CodingLimits, refusesClasses: Bool = false) {
        self.limits = limits
        self.refusesClasses = refusesClasses
    }

    var root: Place { Place(node: PathNode(parent: nil, key: nil, depth: 0, context: self), key: nil) }
}

/// An open container on the way from the root to the field at work.
final class PathNode {
    let parent: PathNode?
    let key: (any CodingKey)?
    /// How many containers are open, this one included.
    let depth: Int
    let context: CodingContext

    init(parent: PathNode?, key: (any CodingKey)?, depth: Int, context: CodingContext) {
        self.parent = parent
        self.key = key
        self.depth = depth
        self.context = context
    }
}

/// Where a value stands: a key in an open container. Costs nothing until a path is asked for.
struct Place {
    let node: PathNode
    /// `nil` for the root.
    let key: (any CodingKey)?

    var context: CodingContext { node.context }

    var codingPath: [any CodingKey] {
        var reversed = key.map { [$0] } ?? []
        var next: PathNode? = node
        while let node = next {
            if let key = node.key { reversed.append(key) }
            next = node.parent
        }
        return reversed.reversed()
    }

    /// Opens a container here.
    ///
    /// - Throws: `tooDeep`.
    func open() throws(CodingFailure) -> PathNode {
        let max = context.limits.depthMax
        guard node.depth < max else { throw failure(.tooDeep, "expected at most \(max) levels, got more") }
        return PathNode(parent: node, key: key, depth: node.depth + 1, context: context)
    }

    func failure(_ code: CodingFailure.Code, _ message: String) -> CodingFailure {
        CodingFailure(code, message, path: codingPath.map(\.component))
    }
}

/// A key that comes from data rather than from a type.
enum DataKey: CodingKey {
    case index(Int)
    case name(String)

    init(stringValue: String) { self = .name(stringValue) }
    init(intValue: Int) { self = .index(intValue) }

    static func of(_ key: Value) -> DataKey { .name(key.textValue ?? JSON.text(of: key)) }
    static var superKey: DataKey { .name("super") }

    var stringValue: String {
        switch self {
        case .index(let index): "\(index)"
        case .name(let name): name
        }
    }

    var intValue: Int? {
        guard case .index(let index) = self else { return nil }
        return index
    }
}

extension CodingKey {
    /// The key as messages show it and maps keep it. An integer of the key is not used: the name is what readers know.
    var component: String { stringValue }
}
