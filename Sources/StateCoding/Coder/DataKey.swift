/// The key of an element or entry, of which a collection has any number; others are fields, which their types name.
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

extension CodingKey {
    /// The key as messages show it and maps keep it. An integer of the key is not used: the name is what readers know.
    var component: String { stringValue }
}
