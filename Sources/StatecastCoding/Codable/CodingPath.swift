/// An open container on the path from the root to the current field.
class CodingPathNode {
    /// `nil` for the root, which holds the whole value.
    // One coding run at a time uses a node, so dynamic exclusivity checks would find nothing.
    @exclusivity(unchecked) final private(set) var parent: CodingPathNode?
    @exclusivity(unchecked) final private(set) var key: (any CodingKey)?
    /// The number of open containers, including this one.
    final private(set) var depth: Int
    final private(set) var limits: CodingLimits

    /// The root.
    init(limits: CodingLimits) {
        parent = nil
        key = nil
        depth = 0
        self.limits = limits
    }

    init(under key: (any CodingKey)?, in parent: CodingPathNode) {
        self.parent = parent
        self.key = key
        depth = parent.depth + 1
        limits = parent.limits
    }

    /// Moves a node without other owners to another place.
    @inline(__always)
    final func move(under key: (any CodingKey)?, in parent: CodingPathNode) {
        self.parent = parent
        self.key = key
        depth = parent.depth + 1
        limits = parent.limits
    }

    /// Releases the parent and the key.
    @inline(__always)
    final func detachFromParent() {
        parent = nil
        key = nil
    }

    /// The keys from the root to this container.
    final var path: [any CodingKey] {
        var reversed: [any CodingKey] = []
        var next: CodingPathNode? = self
        while let node = next {
            if let key = node.key { reversed.append(key) }
            next = node.parent
        }
        return reversed.reversed()
    }

    /// - Throws: `tooDeep`.
    final func checkDepth() throws(CodingFailure) {
        guard depth > limits.maxDepth else { return }
        throw failure(.tooDeep, "expected at most \(limits.maxDepth) levels, got more")
    }

    final func failure(_ code: CodingFailure.Code, _ message: String) -> CodingFailure {
        CodingFailure(code, message, path: path.map(\.component))
    }
}

/// The place of a value: a key in an open container. The path is computed only when an error needs it.
struct CodingPath {
    let node: CodingPathNode
    /// `nil` for the root.
    let key: (any CodingKey)?

    static func root(_ limits: CodingLimits) -> CodingPath {
        CodingPath(node: CodingPathNode(limits: limits), key: nil)
    }

    var keys: [any CodingKey] { key.map { node.path + [$0] } ?? node.path }
    var components: [String] { keys.map(\.component) }

    /// Checks whether a container can be opened here, for containers whose elements need no node.
    ///
    /// - Throws: `tooDeep`.
    @inline(__always)
    func checkDepth() throws(CodingFailure) {
        if node.depth >= node.limits.maxDepth { _ = try open() }
    }

    /// Opens a container here.
    ///
    /// - Throws: `tooDeep`.
    func open() throws(CodingFailure) -> CodingPathNode {
        let opened = CodingPathNode(under: key, in: node)
        try opened.checkDepth()
        return opened
    }

    func failure(_ code: CodingFailure.Code, _ message: String) -> CodingFailure {
        CodingFailure(code, message, path: components)
    }
}

// MARK: Keys

extension CodingKey {
    /// The key's name. `intValue` is ignored: names identify fields in the encoding.
    var component: String { stringValue }
}

/// The key of an element or entry of a collection. All other keys name fields of a type.
protocol EntryCodingKey: CodingKey {}

/// A key that comes from data rather than from a type.
enum DataKey: EntryCodingKey {
    /// The index of an array.
    case index(Int)
    /// An integer that is the key of a map.
    case number(Int)
    case name(String)

    init(stringValue: String) { self = .name(stringValue) }
    init(intValue: Int) { self = .index(intValue) }

    static func of(_ key: Value) -> DataKey { .name(key.keyName) }

    static var superKey: DataKey { .name("super") }

    var stringValue: String {
        switch self {
        case .index(let index), .number(let index): "\(index)"
        case .name(let name): name
        }
    }

    var intValue: Int? {
        guard case .index(let index) = self else { return nil }
        return index
    }
}

/// The key of an entry of a collection. Its name is computed when a failure needs it.
// The key is immutable, and the run that codes its collection is its only reader.
struct EntryKey<Key>: EntryCodingKey, @unchecked Sendable {
    private let key: Key

    static func of(_ key: Key) -> any CodingKey {
        if Key.self == String.self { return DataKey.name(cast(key, to: String.self)) }
        if Key.self == Int.self { return DataKey.number(cast(key, to: Int.self)) }
        return EntryKey(key: key)
    }

    private init(key: Key) { self.key = key }
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }

    var stringValue: String {
        let tree = (key as? any Encodable).flatMap { try? StateEncoder().value(of: $0) }
        return tree.map { DataKey.of($0).stringValue } ?? "\(key)"
    }

    var intValue: Int? { nil }
}

// MARK: Failures

extension CodingFailure {
    /// An error that a type's own coding threw at a place, as a failure that names the field.
    init(_ error: any Error, at place: CodingPath) {
        self.init(error, path: place.keys)
    }

    init(_ error: any Error, path codingPath: [any CodingKey]) {
        func path(_ codingPath: [any CodingKey]) -> [String] { codingPath.map(\.component) }
        switch error {
        case let failure as CodingFailure: self = failure
        case DecodingError.keyNotFound(let key, let context):
            self.init(.missingKey, "missing the key \"\(key.component)\"", path: path(context.codingPath))
        case DecodingError.valueNotFound(let type, let context):
            self.init(.missingValue, "expected \(type), got nothing", path: path(context.codingPath))
        case DecodingError.typeMismatch(let type, let context):
            let message = "expected \(type): \(context.debugDescription)"
            self.init(.typeMismatch, message, path: path(context.codingPath))
        case DecodingError.dataCorrupted(let context):
            self.init(.refusedByType, context.debugDescription, path: path(context.codingPath))
        case EncodingError.invalidValue(let value, let context):
            let message = "\(type(of: value)) cannot be encoded: \(context.debugDescription)"
            self.init(.unencodable, message, path: path(context.codingPath))
        default:
            self.init(.refusedByType, "\(error)", path: path(codingPath))
        }
    }

    /// The most cases that a message lists.
    private static let maxCases = 16

    /// The failure, with the raw values of an enum that lists its cases.
    ///
    /// - Parameter isInner: whether the failure is that of a part of the type.
    func listingCases(of type: Any.Type, unless isInner: Bool) -> CodingFailure {
        func rawValues<C: CaseIterable>(of type: C.Type) -> [String] {
            type.allCases.prefix(Self.maxCases + 1).compactMap { $0 as? any RawRepresentable }.map { "\($0.rawValue)" }
        }
        guard !isInner, code == .refusedByType, let type = type as? any CaseIterable.Type else { return self }
        let values = rawValues(of: type)
        guard !values.isEmpty else { return self }
        let more = values.count > Self.maxCases ? ", …" : ""
        return CodingFailure(
            code,
            "\(message): expected one of \(values.prefix(Self.maxCases).joined(separator: ", "))\(more)",
            path: path
        )
    }

    /// The failure for a place that holds, or could hold, a class instance.
    static func classInstance(_ type: Any.Type, path: [String]) -> CodingFailure {
        let message = "\(type) is a class: its changes cannot be seen; make it a struct"
        return CodingFailure(.unencodable, message, path: path)
    }

    static func classInstance(_ type: Any.Type, at place: CodingPath) -> CodingFailure {
        classInstance(type, path: place.components)
    }

    func inside(_ place: CodingPath) -> CodingFailure {
        var failure = self
        failure.path = place.components + path
        return failure
    }
}
