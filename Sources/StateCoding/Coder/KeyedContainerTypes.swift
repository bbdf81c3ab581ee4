/// The containers for a type of keys.
///
/// To find them is most of what it takes to hand one out: they are generic, and the runtime looks such types up under a
/// lock-free but not a cheap one. So what it finds is kept, as the words that it is made of.
protocol ItemKeyedEncoding<Key>: KeyedEncodingContainerProtocol {
    init(encoder: ItemEncoder)
}

protocol ItemKeyedDecoding<Key>: KeyedDecodingContainerProtocol {
    init(decoder: ItemDecoder)
}

enum KeyedContainerTypes {
    /// A type and how it conforms.
    private typealias Words = (UInt, UInt)

    private static let encoding = TypeTable<Words>()
    private static let decoding = TypeTable<Words>()

    static func encoding<Key: CodingKey>(by key: Key.Type) -> any ItemKeyedEncoding<Key>.Type {
        let words = encoding.answer(for: key) {
            unsafeBitCast(ItemKeyedEncodingContainer<Key>.self as any ItemKeyedEncoding<Key>.Type, to: Words.self)
        }
        // What was kept under a type of keys is the container for it.
        return unsafeBitCast(words, to: (any ItemKeyedEncoding<Key>.Type).self)
    }

    static func decoding<Key: CodingKey>(by key: Key.Type) -> any ItemKeyedDecoding<Key>.Type {
        let words = decoding.answer(for: key) {
            unsafeBitCast(ItemKeyedDecodingContainer<Key>.self as any ItemKeyedDecoding<Key>.Type, to: Words.self)
        }
        return unsafeBitCast(words, to: (any ItemKeyedDecoding<Key>.Type).self)
    }
}
