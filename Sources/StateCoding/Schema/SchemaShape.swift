/// The look of a type, for its fingerprint.
indirect enum SchemaShape: Equatable {
    case bool, integer, float, text, bytes
    case array(SchemaShape)
    case map(SchemaShape, SchemaShape)
    case optional(SchemaShape)
    /// The keys that were asked for.
    case fields([String: SchemaShape])
    /// One of the keys, and what is under it: an enum with payloads.
    case cases([String: SchemaShape])
    /// One of these values: an enum with raw values.
    case choice([Value])
    /// Asked for by position.
    case elements([SchemaShape])
    /// The fingerprint of one that has parts: it may be part of many.
    case sum(UInt64)
    /// A type within itself, so many levels further out.
    case recursion(Int)
    /// Nothing is known.
    case opaque

    /// The form that is hashed.
    var tree: Value {
        switch self {
        case .bool: "bool"
        case .integer: "integer"
        case .float: "float"
        case .text: "text"
        case .bytes: "bytes"
        case .array(let element): ["array", element.tree]
        case .map(let key, let value): ["map", key.tree, value.tree]
        case .optional(let wrapped): ["optional", wrapped.tree]
        case .fields(let fields): ["fields", Self.tree(fields)]
        case .cases(let cases): ["cases", Self.tree(cases)]
        // The keys of a map are in an order, whatever that of the cases is.
        case .choice(let values): ["choice", .map(ValueMap(values.map { ($0, true) }))]
        case .elements(let elements): ["elements", .array(elements.map(\.tree))]
        case .sum(let fingerprint): ["sum", .unsigned(fingerprint)]
        case .recursion(let levels): ["recursion", Value(levels)]
        case .opaque: "opaque"
        }
    }

    var fingerprint: UInt64 {
        var hash = FNV1a()
        hash.combine(tree.encoded)
        return hash.mixed
    }

    /// Its fingerprint alone, if it has parts.
    var summed: SchemaShape {
        switch self {
        case .fields, .cases, .choice, .elements: .sum(fingerprint)
        default: self
        }
    }

    private static func tree(_ parts: [String: SchemaShape]) -> Value {
        .map(ValueMap(parts.map { (.text($0.key), $0.value.tree) }))
    }

    /// The look of a tree whose type cannot be asked.
    init(of tree: Value) {
        self =
            switch tree {
            case .null: .opaque
            case .bool: .bool
            case .unsigned, .negative: .integer
            case .float: .float
            case .text: .text
            case .bytes: .bytes
            case .array(let elements): .array(elements.first.map { SchemaShape(of: $0) } ?? .opaque)
            case .map(let map):
                .fields(
                    Dictionary(
                        map.map { (DataKey.of($0.key).stringValue, SchemaShape(of: $0.value)) },
                        uniquingKeysWith: { first, _ in first }
                    )
                )
            case .tagged(_, let content): SchemaShape(of: content)
            }
    }
}
