/// The `Encoder` that a type's own `encode(to:)` gets: gathers a tree. Containers write into it by reference, as nested
/// ones outlive the call that made them.
final class TreeEncoder: Encoder {
    enum Kind { case nothing, single, array, map }

    /// A part: finished, or still held open by a nested container.
    enum Slot {
        case value(Value)
        case open(TreeEncoder)

        func finish() throws -> Value {
            switch self {
            case .value(let value): value
            case .open(let encoder): try encoder.finish()
            }
        }
    }

    let place: Place
    private(set) var kind = Kind.nothing
    /// Where the parts of the container stand.
    private(set) var node: PathNode
    private var single = Value.null
    private(set) var slots: [Slot] = []
    private var keys: [String] = []
    private var failure: CodingFailure?

    init(place: Place) {
        self.place = place
        node = place.node
    }

    var codingPath: [any CodingKey] { place.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        become(.map)
        return KeyedEncodingContainer(TreeKeyedEncodingContainer(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        become(.array)
        return TreeUnkeyedEncodingContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        TreeSingleValueEncodingContainer(encoder: self)
    }

    /// A type may ask for its container again, not for one of another kind.
    private func become(_ wanted: Kind) {
        switch kind {
        case wanted: break
        case .nothing:
            kind = wanted
            do throws(CodingFailure) { node = try place.open() } catch { failure = error }
        default: failure = place.failure(.unencodable, "the type asked for two containers of different kinds")
        }
    }

    func setSingle(_ value: Value) throws(CodingFailure) {
        guard kind == .nothing else {
            throw place.failure(.unencodable, "the type encoded more than one value into a single-value container")
        }
        kind = .single
        single = value
    }

    func append(_ slot: Slot) {
        slots.append(slot)
    }

    func set(_ key: String, _ slot: Slot) {
        keys.append(key)
        slots.append(slot)
    }

    /// Refuses to go on in a container that could not be opened.
    func check() throws(CodingFailure) {
        if let failure { throw failure }
    }

    func finish() throws -> Value {
        try check()
        switch kind {
        case .single: return single
        case .array: return .array(try slots.map { try $0.finish() })
        case .map:
            var entries: [(key: Value, element: Value)] = []
            entries.reserveCapacity(slots.count)
            for (key, slot) in zip(keys, slots) { entries.append((.text(key.canonical), try slot.finish())) }
            if let map = try? ValueMap(unique: entries) { return .map(map) }
            // A key written twice: the later one counts, as in other coders.
            return .map(ValueMap(entries.map { ($0.key, $0.element) }))
        case .nothing:
            throw place.failure(.unencodable, "the type encoded nothing; encode a value, or an empty container")
        }
    }
}
