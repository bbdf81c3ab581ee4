/// The `Decoder` that a type's own `init(from:)` gets. When the type asks for a container, the decoder becomes the node
/// of that container in the coding path.
final class ItemDecoder: CodingPathNode, Decoder {
    /// An idle decoder has none between two runs.
    @exclusivity(unchecked) private var owner: DecodingSource?
    private var start: Int
    /// The fields, once the type asked for a keyed container.
    // One run at a time reads them, so dynamic exclusivity checks would find nothing.
    @exclusivity(unchecked) private var fields = EncodedFields()

    /// The decoder of a part that was opened last, to be used again.
    @exclusivity(unchecked) private var lastNested: ItemDecoder?
    /// Whether `close` will be called, so that this decoder may retain decoders that retain it.
    private var willClose = false

    init(_ source: DecodingSource, at offset: Int, under key: (any CodingKey)?, in node: CodingPathNode) {
        owner = source
        start = offset
        super.init(under: key, in: node)
    }

    convenience init(_ cursor: ItemCursor, key: (any CodingKey)?, in node: CodingPathNode) {
        self.init(cursor.source, at: cursor.offset, under: key, in: node)
    }

    var codingPath: [any CodingKey] { path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private var source: DecodingSource {
        @inline(__always) get {
            guard let owner else { preconditionFailure("an idle decoder has no source") }
            return owner
        }
    }

    private var cursor: ItemCursor { ItemCursor(source: source, offset: start) }

    /// Lets a type decode itself from the next item.
    static func decode<T: Decodable>(
        _ type: T.Type,
        _ cursor: inout ItemCursor,
        under key: (any CodingKey)?,
        in node: CodingPathNode
    ) throws -> T {
        let source = cursor.source
        source.delegate?.enter(type, at: cursor.offset, under: key, in: node)
        var decoder = source.decoder(at: cursor.offset, under: key, in: node)
        decoder.willClose = true
        do {
            let result = try T(from: decoder)
            cursor.offset = decoder.end
            source.delegate?.leave(hasRead: true)
            decoder.close(source)
            if isKnownUniquelyReferenced(&decoder) { source.keep(decoder) }
            return result
        } catch {
            source.delegate?.leave(hasRead: false)
            decoder.close(source)
            throw decoder.unknownCase(error, of: type)
                ?? CodingFailure(error, path: decoder.path).listingCases(of: type, unless: error is CodingFailure)
        }
    }

    @inline(__always)
    func serveAgain(_ source: DecodingSource, at offset: Int, under key: (any CodingKey)?, in node: CodingPathNode) {
        if owner == nil { owner = source }
        start = offset
        move(under: key, in: node)
    }

    /// Releases the parent, and keeps the source until the run ends.
    @inline(__always)
    func prepareForReuse() {
        fields.removeAll()
        detachFromParent()
    }

    @inline(__always)
    func endRun() {
        owner = nil
    }

    /// The decoder of a part.
    func nested(at offset: Int, _ key: any CodingKey) -> ItemDecoder {
        let source = source
        guard willClose, source.isRunning else { return ItemDecoder(source, at: offset, under: key, in: self) }
        if lastNested != nil { closeNested(source) }
        let nested = source.decoder(at: offset, under: key, in: self)
        nested.willClose = true
        lastNested = nested
        return nested
    }

    /// Releases the decoder that was opened last, which retains this one.
    private func closeNested(_ source: DecodingSource) {
        guard var nested = lastNested.take() else { return }
        nested.close(source)
        if isKnownUniquelyReferenced(&nested) { source.keep(nested) }
    }

    @inline(__always)
    private func close(_ source: DecodingSource) {
        willClose = false
        if lastNested != nil { closeNested(source) }
    }

    /// The offset after the item.
    private var end: Int { fields.isFound ? fields.end : source.end(of: start) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if !fields.isFound { try findFields() }
        if let delegate = source.delegate { delegate.opened(at: start, unknown: unknownNames(to: type), in: self) }
        return keyedContainers(for: type).decoding(by: self)
    }

    /// The failure of an enum that has no case for the keys that came. The compiler's message only counts the keys.
    private func unknownCase(_ error: any Error, of type: Any.Type) -> CodingFailure? {
        guard case DecodingError.typeMismatch(let wanted, let context) = error, wanted == type, fields.isFound,
            context.debugDescription.contains("number of keys")
        else { return nil }
        var cursor = cursor
        cursor.skipTags()
        let keys = cursor.value().mapValue?.prefix(3).map { $0.key.description } ?? []
        let came = fieldCount > 3 ? "\(fieldCount) keys" : keys.isEmpty ? "no key" : keys.joined(separator: ", ")
        return failure(.typeMismatch, "expected a case of \(type), got \(came)")
    }

    private func findFields() throws(CodingFailure) {
        var offset = start
        if source[offset] >> 5 == 6 {
            var cursor = cursor
            cursor.skipTags()
            offset = cursor.offset
        }
        fields.find(in: source.content, at: offset)
        if !fields.isFound { throw mismatch("a map") }
        try checkDepth()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        var cursor = cursor
        cursor.skipTags()
        if let count = cursor.readArray() {
            try checkDepth()
            return ItemUnkeyedDecodingContainer(cursor: cursor, elements: count, node: self)
        }
        // A type may read its bytes one by one.
        if let bytes = cursor.readBytes() {
            try checkDepth()
            let numbers = DecodingSource(.array(bytes.map { .unsigned(UInt64($0)) }))
            var cursor = ItemCursor(source: numbers, offset: 0)
            let count = cursor.readArray() ?? 0
            return ItemUnkeyedDecodingContainer(cursor: cursor, elements: count, node: self)
        }
        throw mismatch("an array")
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    private func mismatch(_ expected: String) -> CodingFailure {
        cursor.mismatch(expected, at: CodingPath(node: parent ?? self, key: key))
    }

    // MARK: Fields

    var fieldCount: Int { fields.count }

    /// The key of a field.
    func key<Key: CodingKey>(_ index: Int, as type: Key.Type) -> Key? {
        var cursor = ItemCursor(source: source, offset: fields.keyOffset(index))
        if let name = cursor.readText() { return Key(stringValue: name) }
        return cursor.value().intValue.flatMap { Key(intValue: $0) }
    }

    /// The offset of a field's value.
    func offset(of name: String) -> Int? { fields.offset(of: name, in: source.content) }

    func field(_ name: String) -> ItemCursor? {
        guard let offset = offset(of: name) else { return nil }
        return ItemCursor(source: source, offset: offset)
    }

    func requiredField(_ name: String) throws(CodingFailure) -> ItemCursor {
        guard let offset = offset(of: name) else { return try substitute(for: name) }
        return ItemCursor(source: source, offset: offset)
    }

    /// The decoder of a field that must be there.
    func requiredNested(_ key: any CodingKey) throws(CodingFailure) -> ItemDecoder {
        if let offset = offset(of: key.component) { return nested(at: offset, key) }
        return ItemDecoder(try substitute(for: key.component), key: key, in: self)
    }

    /// The value that is read in place of a missing field.
    @inline(never)
    private func substitute(for name: String) throws(CodingFailure) -> ItemCursor {
        guard let value = source.delegate?.value(of: name, in: self) else {
            throw failure(.missingKey, "missing the key \"\(name)\"")
        }
        return ItemCursor(source: DecodingSource(value), offset: 0)
    }

    /// The keys of the fields that a type has no name for.
    private func unknownNames<Key: CodingKey>(to type: Key.Type) -> Set<String> {
        var names: Set<String> = []
        for index in 0..<fields.count where key(index, as: type) == nil {
            var cursor = ItemCursor(source: source, offset: fields.keyOffset(index))
            let name = cursor.value().keyName
            if !cursor.isNull { names.insert(name) }
        }
        return names
    }

    // The containers are generic in their keys. These functions need only the name, so they can be specialized for each
    // primitive.

    /// The value of a primitive field.
    func primitive<P: Primitive>(_ name: String) throws -> P {
        guard let offset = offset(of: name) else {
            var cursor = try substitute(for: name)
            return try P.read(&cursor, at: CodingPath(node: self, key: DataKey.name(name)))
        }
        return try primitive(name, at: offset)
    }

    /// The value of a primitive field; a null is an absent value.
    func optional<P: Primitive>(_ name: String) throws -> P? {
        guard let offset = offset(of: name), source[offset] != 0xF6 else { return nil }
        return try primitive(name, at: offset)
    }

    @inline(__always)
    private func primitive<P: Primitive>(_ name: String, at offset: Int) throws -> P {
        var cursor = ItemCursor(source: source, offset: offset)
        if let usual = P.readUsual(&cursor) { return usual }
        return try P.read(&cursor, at: CodingPath(node: self, key: DataKey.name(name)))
    }
}

/// The item as one value.
extension ItemDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { cursor.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        var cursor = cursor
        return try decodeItem(type, &cursor, under: key, in: parent ?? self)
    }
}
