import Synchronization

/// Casts a value to a type that is identical to `T` but statically unrelated.
///
/// `as!` has the same result, but the runtime takes longer to find it than most values take to be encoded.
///
/// - Precondition: `T` is `U`.
@inline(__always)
func cast<T, U>(_ value: T, to type: U.Type) -> U {
    precondition(T.self == U.self, "expected a value of \(U.self), got one of \(T.self)")
    return unsafeBitCast(value, to: type)
}

/// Casts an array to a type that is identical to `[T]` but statically unrelated.
///
/// It compares the types of the elements, because the runtime would have to look up those of the arrays.
///
/// - Precondition: `T` is `U`.
@inline(__always)
func castElements<T, U>(_ elements: [T], to type: U.Type) -> [U] {
    precondition(T.self == U.self, "expected elements of \(U.self), got \(T.self)")
    return unsafeBitCast(elements, to: [U].self)
}

/// The properties of a type that the coder asks for repeatedly.
struct TypeTraits {
    let encodable: (any BuiltInEncodable.Type)?
    let decodable: (any BuiltInDecodable.Type)?
    let primitive: (any Primitive.Type)?
    /// The type if it is a class, or the first class among the types of its parts. No state may hold a class.
    let classType: Any.Type?

    private static let table = TypeTable<TypeTraits>()

    // Inlined, as most callers need one of the properties and would copy all of them.
    @inline(__always)
    static func of(_ type: Any.Type) -> TypeTraits { table.answer(for: type) { TypeTraits(type) } }

    private init(_ type: Any.Type) {
        encodable = type as? any BuiltInEncodable.Type
        decodable = type as? any BuiltInDecodable.Type
        primitive = encodable as? any Primitive.Type
        let partTypes = encodable?.partTypes ?? []
        classType =
            type is AnyObject.Type ? type : partTypes.lazy.compactMap { TypeTraits.of($0).classType }.first
    }
}

/// Caches runtime type queries. A query takes longer than coding a field, so the answers are kept until the process
/// ends.
struct TypeTable<Answer>: @unchecked Sendable {
    private struct Entry {
        let type: ObjectIdentifier
        let answer: Answer
    }

    private typealias Slot = Atomic<UnsafePointer<Entry>?>

    /// The number of types; the queries of further ones are repeated.
    private static var count: Int { 4096 }

    // Never freed, and accessed only as atomics; the entries do not change.
    private let slots: UnsafeMutablePointer<Slot>

    init() {
        slots = .allocate(capacity: Self.count)
        for index in 0..<Self.count { (slots + index).initialize(to: Slot(nil)) }
    }

    @inline(__always)
    func answer(for type: Any.Type, _ make: () -> Answer) -> Answer {
        let identity = ObjectIdentifier(type)
        let bits = UInt(bitPattern: identity)
        // Identifiers of one module's types differ little, and not in their lowest bits.
        let home = Int((bits >> 4 ^ bits >> 13) % UInt(Self.count))
        if let known = (slots + home).pointee.load(ordering: .acquiring), known.pointee.type == identity {
            return known.pointee.answer
        }
        return answer(for: identity, awayFrom: home, make)
    }

    @inline(never)
    private func answer(for type: ObjectIdentifier, awayFrom home: Int, _ make: () -> Answer) -> Answer {
        for index in home..<(home + Self.count) {
            let slot = slots + index % Self.count
            if slot.pointee.load(ordering: .acquiring) == nil { fill(slot, type, make) }
            if let known = slot.pointee.load(ordering: .acquiring), known.pointee.type == type {
                return known.pointee.answer
            }
        }
        return make()
    }

    private func fill(_ slot: UnsafeMutablePointer<Slot>, _ type: ObjectIdentifier, _ make: () -> Answer) {
        let entry = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
        entry.initialize(to: Entry(type: type, answer: make()))
        let (isFilled, _) = slot.pointee.compareExchange(
            expected: nil,
            desired: UnsafePointer(entry),
            ordering: .acquiringAndReleasing
        )
        if isFilled { return }
        entry.deinitialize(count: 1)
        entry.deallocate()
    }
}

/// Makes the keyed containers for one type of keys.
///
/// The containers are generic in their keys, and looking up such a type is most of the cost of making one, so the types
/// are looked up once. (Without that, encoding an action takes 12 % more instructions, decoding it 8 %.)
struct KeyedContainers<Key: CodingKey> {
    private let encodingType: any ItemKeyedEncoding<Key>.Type
    private let decodingType: any ItemKeyedDecoding<Key>.Type

    fileprivate init() {
        encodingType = ItemKeyedEncodingContainer<Key>.self
        decodingType = ItemKeyedDecodingContainer<Key>.self
    }

    @inline(__always)
    func encoding(by encoder: ItemEncoder) -> KeyedEncodingContainer<Key> {
        func make<C: ItemKeyedEncoding<Key>>(_ type: C.Type) -> KeyedEncodingContainer<Key> {
            KeyedEncodingContainer(type.init(encoder: encoder))
        }
        return make(encodingType)
    }

    @inline(__always)
    func decoding(by decoder: ItemDecoder) -> KeyedDecodingContainer<Key> {
        func make<C: ItemKeyedDecoding<Key>>(_ type: C.Type) -> KeyedDecodingContainer<Key> {
            KeyedDecodingContainer(type.init(decoder: decoder))
        }
        return make(decodingType)
    }
}

/// The `KeyedContainers` by the type of their keys, never freed. They are no objects, because threads that code the
/// same type would contend for their reference counts.
private let knownContainers = TypeTable<UnsafeRawPointer>()

// Not a static member, whose call would look up the type `KeyedContainers<Key>`.
@inline(__always)
func keyedContainers<Key: CodingKey>(for key: Key.Type) -> KeyedContainers<Key> {
    let containers = knownContainers.answer(for: key) { makeKeyedContainers(for: key) }
    // Safe: the table keeps what the closure of the same type made.
    return containers.assumingMemoryBound(to: KeyedContainers<Key>.self).pointee
}

@inline(never)
private func makeKeyedContainers<Key: CodingKey>(for key: Key.Type) -> UnsafeRawPointer {
    let containers = UnsafeMutablePointer<KeyedContainers<Key>>.allocate(capacity: 1)
    containers.initialize(to: KeyedContainers<Key>())
    return UnsafeRawPointer(containers)
}

protocol ItemKeyedEncoding<Key>: KeyedEncodingContainerProtocol {
    init(encoder: ItemEncoder)
}

protocol ItemKeyedDecoding<Key>: KeyedDecodingContainerProtocol {
    init(decoder: ItemDecoder)
}
