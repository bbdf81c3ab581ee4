/// An `Encoder` that encodes nothing: it keeps the fields that a type's `encode(to:)` hands out, typed, in their order.
///
/// Enums with payloads write theirs in a nested keyed container: collected likewise. Any other container makes the
/// collection not plain, and the type is then encoded whole.
final class FieldCollector: Encoder {
    struct Field {
        let name: String
        let content: Content

        var key: Value { .text(name.canonical) }
    }

    enum Content {
        case null
        case value(any Encodable)
        case fields(FieldCollector)
    }

    let place: Place
    private(set) var node: PathNode
    private(set) var fields: [Field] = []
    private var hasContainer = false
    private var isUnusual = false
    private var failure: CodingFailure?

    private init(place: Place) {
        self.place = place
        node = place.node
    }

    /// Collects the fields of a value.
    convenience init(of value: some Encodable, at place: Place) throws {
        self.init(place: place)
        do {
            try value.encode(to: self)
        } catch {
            throw CodingFailure(error, at: place)
        }
        if let failure { throw failure }
    }

    /// Whether one keyed container is all that the type asked for.
    var isPlain: Bool {
        hasContainer && !isUnusual
            && fields.allSatisfy { field in
                if case .fields(let nested) = field.content { nested.isPlain } else { true }
            }
    }

    var codingPath: [any CodingKey] { place.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if !hasContainer {
            do throws(CodingFailure) { node = try place.open() } catch { failure = error }
            fields.reserveCapacity(16)
        }
        hasContainer = true
        return KeyedEncodingContainer(FieldContainer(collector: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { unusual(at: place).unkeyedContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer { unusual(at: place).singleValueContainer() }

    /// An encoder whose result nobody asks for, for what cannot be collected.
    func unusual(at place: Place) -> TreeEncoder {
        isUnusual = true
        return TreeEncoder(place: place)
    }

    func collect(_ name: String, _ content: Content) {
        fields.append(Field(name: name, content: content))
    }

    func nested(_ key: any CodingKey) -> FieldCollector {
        let nested = FieldCollector(place: Place(node: node, key: key))
        collect(key.component, .fields(nested))
        return nested
    }
}

/// The keyed container of a `FieldCollector`.
private struct FieldContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let collector: FieldCollector

    var codingPath: [any CodingKey] { collector.codingPath }

    mutating func encodeNil(forKey key: Key) throws {
        collector.collect(key.component, .null)
    }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        collector.collect(key.component, .value(value))
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        collector.nested(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        unusual(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { unusual(DataKey.superKey) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { unusual(key) }

    private func unusual(_ key: any CodingKey) -> TreeEncoder {
        collector.unusual(at: Place(node: collector.node, key: key))
    }
}
