/// The look of a type, for its fingerprint.
indirect enum SchemaShape: Equatable {
    case bool, integer, float, text, bytes
    case array(SchemaShape)
    case map(SchemaShape, SchemaShape)
    case optional(SchemaShape)
    /// The keys that were asked for, sorted.
    case fields([String: SchemaShape])
    /// Asked for by position.
    case elements([SchemaShape])
    /// A type within itself, so many levels further out.
    case recursion(Int)
    /// What an example offers: its encoding's kinds.
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
        case .fields(let fields):
            ["fields", .map(ValueMap(fields.map { (.text($0.key), $0.value.tree) }))]
        case .elements(let elements): ["elements", .array(elements.map(\.tree))]
        case .recursion(let levels): ["recursion", Value(levels)]
        case .opaque: "opaque"
        }
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
