/// The key of an entry of a collection. What it is called is found out when somebody asks, which is for a failure.
// Nobody changes a key, and it is only read while its collection is coded, by the one who codes it.
struct EntryKey<Key>: EntryCodingKey, @unchecked Sendable {
    private let key: Key

    static func of(_ key: Key) -> any CodingKey {
        // Key is that type, which the compiler cannot know.
        if Key.self == String.self { return DataKey.name(unsafeBitCast(key, to: String.self)) }
        if Key.self == Int.self { return DataKey.number(unsafeBitCast(key, to: Int.self)) }
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
