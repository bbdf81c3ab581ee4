/// Builds plain instances and looks. Knows which types it is inside of, so that a type within itself ends.
final class SchemaProbe {
    private var inside: [ObjectIdentifier] = []
    /// What came of types that are not within themselves, wherever they were met: a type may be met often.
    private var known: [ObjectIdentifier: Visit<Any>] = [:]
    /// The outermost of the types it is inside of that was met again in what is being looked at.
    private var outermostMetAgain = Int.max
    /// Where it is, elements left out.
    private var path: [String] = []
    /// The first class that was met, and where.
    private var firstClass: (type: Any.Type, path: [String])?

    /// No plain sample can be made.
    struct NoSample: Error {}

    /// What came of looking at a type.
    struct Visit<T> {
        var instance: T?
        var shape: SchemaShape
    }

    /// Checks that a type and all within it that can be seen are values.
    ///
    /// - Throws: `unencodable`.
    static func checkValueSemantics(of type: any Decodable.Type) throws(CodingFailure) {
        let probe = SchemaProbe()
        _ = probe.shape(of: type)
        guard let found = probe.firstClass else { return }
        throw CodingFailure.classInstance(found.type, path: found.path)
    }

    /// The look of a type, as far as it can be built.
    func shape<T>(of type: T.Type) -> SchemaShape {
        func open<D: Decodable>(_ type: D.Type) -> SchemaShape { visit(type).shape }
        return (type as? any Decodable.Type).map { open($0) } ?? .opaque
    }

    /// Sample and look of a type that stands somewhere.
    func visit<T: Decodable>(_ type: T.Type, at path: [String]) -> Visit<T> {
        let outer = self.path
        self.path = path
        defer { self.path = outer }
        return visit(type)
    }

    /// Sample and look of a type.
    func visit<T: Decodable>(_ type: T.Type) -> Visit<T> {
        if firstClass == nil, type is AnyObject.Type { firstClass = (type, path) }
        if let shaped = type as? any ShapedDecodable.Type {
            return Visit(instance: shaped.sample as? T, shape: shaped.schemaShape(in: self))
        }
        let identity = ObjectIdentifier(type)
        let example = (type as? any SchemaExample.Type)?.schemaExample as? T
        if let level = inside.lastIndex(of: identity) {
            outermostMetAgain = min(outermostMetAgain, level)
            return Visit(instance: example, shape: .recursion(inside.count - level))
        }
        if let known = known[identity] { return Visit(instance: known.instance as? T, shape: known.shape) }
        let metBefore = outermostMetAgain
        outermostMetAgain = .max
        inside.append(identity)
        var visit = look(at: type, example)
        inside.removeLast()
        if outermostMetAgain > inside.count {
            visit.shape = visit.shape.summed
            known[identity] = Visit(instance: visit.instance, shape: visit.shape)
        }
        outermostMetAgain = min(outermostMetAgain, metBefore)
        return visit
    }

    private func look<T: Decodable>(at type: T.Type, _ example: T?) -> Visit<T> {
        if let cases = rawCases(of: type) {
            return Visit(instance: example ?? cases.first, shape: .choice(cases.map(tree)))
        }
        var visit = probe(type)
        if visit.instance == nil, let stand = example ?? firstCase(of: type) {
            visit = Visit(instance: stand, shape: SchemaShape(of: tree(of: stand)))
        }
        visit.instance = example ?? visit.instance
        return visit
    }

    /// Runs the type's `init(from:)`, once for each case if it is an enum with payloads.
    private func probe<T: Decodable>(_ type: T.Type) -> Visit<T> {
        let decoder = ProbingDecoder(probe: self, path: path)
        var instance = try? T(from: decoder)
        var cases = decoder.fields
        for choice in 1..<max(1, decoder.choiceCount) {
            let decoder = ProbingDecoder(probe: self, path: path, choice: choice)
            let other = try? T(from: decoder)
            instance = instance ?? other
            cases.merge(decoder.fields) { first, _ in first }
        }
        // A list of what cannot be built may be empty.
        if instance == nil { instance = try? T(from: ProbingDecoder(probe: self, path: path, fillsLists: false)) }
        return Visit(instance: instance, shape: decoder.choiceCount > 0 ? .cases(cases) : decoder.shape)
    }

    /// All cases of a type that is a few raw values.
    private func rawCases<T>(of type: T.Type) -> [T]? {
        guard type is any RawRepresentable.Type else { return nil }
        if let cases = allCases(of: type) { return cases.isEmpty ? nil : cases }
        return PlainCases(of: type).map { cases in (0..<cases.count).map { cases[$0] } }
    }

    private func firstCase<T>(of type: T.Type) -> T? { allCases(of: type)?.first }

    private func allCases<T>(of type: T.Type) -> [T]? {
        func all<C: CaseIterable>(_ type: C.Type) -> [T] { type.allCases.compactMap { $0 as? T } }
        return (type as? any CaseIterable.Type).map { all($0) }
    }

    private func tree<T>(of instance: T) -> Value {
        func raw<R: RawRepresentable>(_ instance: R) -> (any Encodable)? { instance.rawValue as? any Encodable }
        let encodable = (instance as? any Encodable) ?? (instance as? any RawRepresentable).flatMap { raw($0) }
        return encodable.flatMap { try? StateEncoder().value(of: $0) } ?? .null
    }
}
