/// The `Decoder` that a type's own `init(from:)` gets: answers from a tree.
struct TreeDecoder: Decoder {
    let value: Value
    let place: Place

    var codingPath: [any CodingKey] { place.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .map(let map) = value.untagged else { throw mismatch("a map") }
        return KeyedDecodingContainer(TreeKeyedDecodingContainer<Key>(map: map, node: try place.open(), place: place))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        switch value.untagged {
        case .array(let elements):
            return TreeUnkeyedDecodingContainer(elements: elements, node: try place.open(), place: place)
        // Types like `Data` read their bytes one by one.
        case .bytes(let bytes):
            let elements = bytes.map { Value.unsigned(UInt64($0)) }
            return TreeUnkeyedDecodingContainer(elements: elements, node: try place.open(), place: place)
        default: throw mismatch("an array")
        }
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        TreeSingleValueDecodingContainer(value: value, place: place)
    }

    private func mismatch(_ expected: String) -> CodingFailure {
        place.failure(.mismatch(value), "expected \(expected), got \(value.summary)")
    }
}
