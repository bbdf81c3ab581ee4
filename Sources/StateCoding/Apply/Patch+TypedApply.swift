extension Patch {
    /// Applies the patch to a typed state, through its own `init(from:)`, at a cost that follows the patch: what the patch
    /// does not touch is taken over from the old state and not decoded. If it does not fit, the state stays as it was.
    ///
    /// What the type does not know is ignored. A synthesized `init(from:)` evaluates the default values of all
    /// properties first, so a costly default is paid for at each application.
    ///
    /// Costs: a changed struct its fields, a changed `Table` O(log n) for each of its rows, a changed array, dictionary or
    /// set a copy; each once, however many parts of a sequence go into it.
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
        let patch = try gathered(at: place)
        switch patch.form {
        case .replace(let value): return try decodeTree(T.self, from: value, at: place)
        case .fields(let fields) where fields.count == 0: return old
        // In between, the type may not be able to take the parts.
        case .sequence where patch.replacesInBetween: break
        case .fields, .splice, .sequence:
            if let result = try patch.appliedToParts(of: old, at: place) { return result }
        }
        return try patch.appliedToTree(of: old, at: place)
    }

    /// `nil` if the parts of the type cannot be told apart.
    private func appliedToParts<T: Codable>(of old: T, at place: Place) throws -> T? {
        func patched<P: PartiallyPatched>(_ type: P.Type) throws -> T {
            // P is T, which the compiler cannot know.
            unsafeBitCast(try unsafeBitCast(old, to: P.self).patched(by: self, at: place), to: T.self)
        }
        if let type = T.self as? any PartiallyPatched.Type { return try patched(type) }
        guard ShapedTypes.answer(for: T.self).encodable == nil else { return nil }
        let fields = try FieldCollector(of: old, at: place)
        if let content = fields.newtypeContent { return try NewtypeDecoder(content, self, at: place).newtype(T.self) }
        guard case .fields(let changes) = form, fields.isPlain, !fields.hasDoubles else { return nil }
        return try FieldPatchDecoder(fields, changes, under: place.key, in: place.node).decode(T.self)
    }

    /// A value, if it is of the type that is asked for, as the patch makes it.
    func applied<T>(to old: any Encodable, as type: T.Type, at place: Place) throws -> T? {
        func apply<C: Codable>(_ old: C) throws -> T? {
            // C is T there, which the compiler cannot know.
            C.self == T.self ? unsafeBitCast(try applied(to: old, at: place), to: T.self) : nil
        }
        return try (old as? any Codable).flatMap { try apply($0) }
    }

    /// Changes the tree of a part.
    func apply(to tree: inout Value, at place: Place) throws(CodingFailure) {
        do throws(CodingFailure) { try apply(to: &tree) } catch { throw error.inside(place) }
    }

    /// The part through its tree.
    func appliedToTree<T: Decodable>(of old: some Encodable, at place: Place) throws -> T {
        var tree = try encodeTree(old, at: place)
        try apply(to: &tree, at: place)
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
