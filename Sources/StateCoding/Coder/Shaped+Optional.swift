/// An absent value is null. A present value that is itself null (`.some(nil)`) needs a mark to stay apart from it.
extension Value {
    /// The tag that says: present, though its content is null. A number of this project; readers that do not know it
    /// see null.
    static let presentTag: UInt64 = 21_332

    /// The value as the content of an optional.
    var asPresent: Value {
        switch self {
        case .null, .tagged(Value.presentTag, _): .tagged(Value.presentTag, self)
        default: self
        }
    }

    /// The content of an optional that is not null.
    var presentContent: Value {
        if case .tagged(Value.presentTag, let content) = self { content } else { self }
    }
}

protocol AnyOptional {}
extension Optional: AnyOptional {}

extension Optional: ShapedEncodable where Wrapped: Encodable {
    func shape(at place: Place) throws -> Value {
        guard let self else { return .null }
        return try encodeTree(self, at: place).asPresent
    }

    static var partTypes: [Any.Type] { [Wrapped.self] }

    static func change(from old: Self, to new: Self, at place: Place, path: DigestPath) throws -> Change? {
        if let old, let new {
            guard let change = try changeOfTree(from: old, to: new, at: place, path: path) else { return nil }
            // A replaced content may be null, before or now, which looks otherwise from outside.
            if case .replace = change.patch.form {} else { return change }
        }
        return Change.replacing(try old.shape(at: place), with: try new.shape(at: place), path: path)
    }
}

extension Optional: ShapedDecodable where Wrapped: Decodable {
    static func unshape(_ value: Value, at place: Place) throws -> Self {
        value == .null ? nil : .some(try decodeTree(Wrapped.self, from: value.presentContent, at: place))
    }

    static func schemaShape(in probe: SchemaProbe) -> SchemaShape { .optional(probe.shape(of: Wrapped.self)) }
    static var sample: Self { nil }
}
