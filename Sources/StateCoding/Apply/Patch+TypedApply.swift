extension Patch {
    /// Applies the patch to a typed state, through its own `init(from:)`, at a cost that follows the patch: what the patch
    /// does not touch is taken over from the old state and not decoded. If it does not fit, the state stays as it was.
    ///
    /// What the type does not know is ignored. A synthesized `init(from:)` evaluates the default values of all
    /// properties first, so a costly default is paid for at each application.
    ///
    /// Costs: a changed struct its fields, a changed `Table` O(log n) for each of its rows, a changed array, dictionary or
    /// set a copy.
    ///
    /// - Throws: `patchMismatch`, with the path where it does not fit, and what decoding the changed parts throws.
    public func apply<State: Codable>(
        to state: inout State,
        limits: CodingLimits = .standard
    ) throws(CodingFailure) {
        do { state = try applied(to: state, at: .root(limits)) } catch { throw CodingFailure(error, path: []) }
    }

    /// A part of a state as the patch makes it.
    func applied<T: Codable>(to old: T, at place: Place) throws -> T {
        switch form {
        case .replace(let value): return try decodeTree(T.self, from: value, at: place)
        case .sequence(let parts):
            // In between, a type that writes itself by hand may not be able to take the parts.
            guard T.self is any PartiallyPatched.Type || parts.allSatisfy(\.hasFields) else { break }
            return try parts.reduce(old) { try $1.applied(to: $0, at: place) }
        case .fields(let fields) where fields.count == 0: return old
        case .fields, .splice: break
        }
        func patched<P: PartiallyPatched>(_ type: P.Type) throws -> T {
            // P is T, which the compiler cannot know.
            unsafeBitCast(try unsafeBitCast(old, to: P.self).patched(by: self, at: place), to: T.self)
        }
        if let type = T.self as? any PartiallyPatched.Type { return try patched(type) }
        guard ShapedTypes.answer(for: T.self).encodable == nil else { return try appliedToTree(of: old, at: place) }
        let fields = try FieldCollector(of: old, at: place)
        if let content = fields.newtypeContent {
            if let result = try NewtypeDecoder(content, self, at: place).newtype(T.self) { return result }
        } else if case .fields(let changes) = form, fields.isPlain, !fields.hasDoubles {
            return try FieldPatchDecoder(fields, changes, under: place.key, in: place.node).decode(T.self)
        }
        return try appliedToTree(of: old, at: place)
    }

    /// A value, if it is of the type that is asked for, as the patch makes it.
    func applied<T>(to old: any Encodable, as type: T.Type, at place: Place) throws -> T? {
        func apply<C: Codable>(_ old: C) throws -> T? {
            // C is T there, which the compiler cannot know.
            C.self == T.self ? unsafeBitCast(try applied(to: old, at: place), to: T.self) : nil
        }
        return try (old as? any Codable).flatMap { try apply($0) }
    }

    private var hasFields: Bool {
        if case .fields = form { return true }
        return false
    }

    /// The part through its tree: for types whose parts cannot be told apart.
    func appliedToTree<T: Decodable>(of old: some Encodable, at place: Place) throws -> T {
        var tree = try encodeTree(old, at: place)
        do throws(CodingFailure) { try apply(to: &tree) } catch {
            throw error.inside(place)
        }
        return try decodeTree(T.self, from: tree, at: place)
    }

    static func misfit(_ expected: String, _ came: String, at place: Place) -> CodingFailure {
        place.failure(.patchMismatch, "expected \(expected), got \(came)")
    }
}

extension CodingFailure {
    func inside(_ place: Place) -> CodingFailure {
        var failure = self
        failure.path = place.codingPath.map(\.component) + path
        return failure
    }
}
