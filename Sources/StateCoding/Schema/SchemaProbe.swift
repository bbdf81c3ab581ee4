/// Builds plain instances and looks. Knows which types it is inside of, so that a type within itself ends.
final class SchemaProbe {
    private var inside: [ObjectIdentifier] = []

    /// No plain sample can be made.
    struct NoSample: Error {}

    /// A plain instance.
    func sample<T: Decodable>(of type: T.Type) throws -> T {
        try visit(type).get()
    }

    /// The look of a type, as far as it can be built.
    func shape<T>(of type: T.Type) -> SchemaShape {
        func open<D: Decodable>(_ type: D.Type) -> SchemaShape {
            let probing = ProbingDecoder(probe: self)
            return visit(type, with: probing).shape
        }
        return (type as? any Decodable.Type).map { open($0) } ?? .opaque
    }

    private struct Visit<T> {
        let instance: T?
        let shape: SchemaShape

        func get() throws -> T {
            guard let instance else { throw NoSample() }
            return instance
        }
    }

    private func visit<T: Decodable>(_ type: T.Type, with decoder: ProbingDecoder? = nil) -> Visit<T> {
        if let shaped = type as? any ShapedDecodable.Type {
            return Visit(instance: shaped.sample as? T, shape: shaped.schemaShape(in: self))
        }
        if let example = (type as? any SchemaExample.Type)?.schemaExample ?? firstCase(type) {
            return Visit(instance: example as? T, shape: shape(ofExample: example))
        }
        let identity = ObjectIdentifier(type)
        if let level = inside.lastIndex(of: identity) {
            return Visit(instance: nil, shape: .recursion(inside.count - level))
        }
        inside.append(identity)
        defer { inside.removeLast() }
        let decoder = decoder ?? ProbingDecoder(probe: self)
        let instance = try? T(from: decoder)
        return Visit(instance: instance, shape: decoder.shape)
    }

    private func firstCase(_ type: Any.Type) -> Any? {
        func first<C: CaseIterable>(_ type: C.Type) -> Any? { type.allCases.first }
        return (type as? any CaseIterable.Type).flatMap { first($0) }
    }

    private func shape(ofExample example: Any) -> SchemaShape {
        guard let example = example as? any Encodable, let tree = try? StateEncoder().value(of: example) else {
            return .opaque
        }
        return SchemaShape(of: tree)
    }

    /// Sample and look of a field's type, from one run of its `init(from:)`.
    func field<T: Decodable>(_ type: T.Type) -> (instance: T?, shape: SchemaShape) {
        let visit = visit(type)
        return (visit.instance, visit.shape)
    }
}
