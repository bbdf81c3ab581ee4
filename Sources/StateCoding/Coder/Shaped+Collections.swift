extension Array: ShapedEncodable where Element: Encodable {
    func shape(at place: Place) throws -> Value {
        // The type is asked first: an empty array of anything can be cast to one of bytes.
        if Element.self == UInt8.self, let bytes = self as? [UInt8] { return .bytes(bytes) }
        let node = try place.open()
        var elements: [Value] = []
        elements.reserveCapacity(count)
        for (index, element) in enumerated() {
            elements.append(try encodeTree(element, at: Place(node: node, key: DataKey.index(index))))
        }
        return .array(elements)
    }

    static var partTypes: [Any.Type] { [Element.self] }
}

extension Array: ShapedDecodable where Element: Decodable {
    /// Bytes come as a byte string, or as the JSON view has them: base64, or an array of numbers.
    static func unshape(_ value: Value, at place: Place) throws -> [Element] {
        let content = value.untagged
        if Element.self == UInt8.self, let bytes = content.bytesValue ?? content.textValue.flatMap(Base64.bytes) {
            if let result = bytes as? [Element] { return result }
        }
        guard case .array(let elements) = content else {
            let expected = Element.self == UInt8.self ? "bytes (or base64 text)" : "an array"
            throw place.failure(.mismatch(content), "expected \(expected), got \(content.summary)")
        }
        let node = try place.open()
        var result: [Element] = []
        result.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            let place = Place(node: node, key: DataKey.index(index))
            result.append(try decodeTree(Element.self, from: element, at: place))
        }
        return result
    }

    static func schemaShape(in probe: SchemaProbe) -> SchemaShape {
        Element.self == UInt8.self ? .bytes : .array(probe.shape(of: Element.self))
    }
    static var sample: [Element] { [] }
}

extension Set: ShapedEncodable where Element: Encodable {
    func shape(at place: Place) throws -> Value {
        let node = try place.open()
        var elements: [(key: Value, element: Void)] = []
        elements.reserveCapacity(count)
        for element in self {
            let value = try encodeTree(element, at: Place(node: node, key: DataKey.index(elements.count)))
            elements.append((value.canonical, ()))
        }
        do throws(CodingFailure) {
            return .array(try KeyedEntries(canonical: elements).keys)
        } catch {
            throw place.failure(.unencodable, "two elements of the set have one encoding, so one would be lost")
        }
    }

    static var partTypes: [Any.Type] { [Element.self] }
}

extension Set: ShapedDecodable where Element: Decodable {
    static func unshape(_ value: Value, at place: Place) throws -> Set<Element> {
        Set(try [Element].unshape(value, at: place))
    }

    static func schemaShape(in probe: SchemaProbe) -> SchemaShape { .array(probe.shape(of: Element.self)) }
    static var sample: Set<Element> { [] }
}

extension Dictionary: ShapedEncodable where Key: Encodable, Value: Encodable {
    typealias Tree = StateCoding.Value

    func shape(at place: Place) throws -> Tree {
        let node = try place.open()
        var entries: [(key: Tree, element: Tree)] = []
        entries.reserveCapacity(count)
        for (key, value) in self {
            let key = try encodeTree(key, at: place).canonical
            entries.append((key, try encodeTree(value, at: Place(node: node, key: DataKey.of(key)))))
        }
        do throws(CodingFailure) {
            return .map(ValueMap(entries: try KeyedEntries(canonical: entries)))
        } catch {
            throw place.failure(.unencodable, "two keys of the dictionary have one encoding, so one would be lost")
        }
    }

    static var partTypes: [Any.Type] { [Key.self, Value.self] }
}

extension Dictionary: ShapedDecodable where Key: Decodable, Value: Decodable {
    /// Keys that the JSON view turned into text are understood: `"5"` as 5.
    static func unshape(_ value: StateCoding.Value, at place: Place) throws -> [Key: Value] {
        guard case .map(let map) = value.untagged else {
            throw place.failure(.mismatch(value), "expected a map, got \(value.summary)")
        }
        let node = try place.open()
        var result: [Key: Value] = [:]
        result.reserveCapacity(map.count)
        for (key, element) in map {
            let place = Place(node: node, key: DataKey.of(key))
            let decoded = try decodeKey(key, at: place)
            guard result.updateValue(try decodeTree(Value.self, from: element, at: place), forKey: decoded) == nil
            else { throw place.failure(.duplicateKey, "two keys of the map are one \(Key.self)") }
        }
        return result
    }

    private static func decodeKey(_ key: StateCoding.Value, at place: Place) throws -> Key {
        do {
            return try decodeTree(Key.self, from: key, at: place)
        } catch {
            guard let text = key.textValue, let parsed = try? JSON.value(parsing: text) else { throw error }
            return try decodeTree(Key.self, from: parsed, at: place)
        }
    }

    static func schemaShape(in probe: SchemaProbe) -> SchemaShape {
        .map(probe.shape(of: Key.self), probe.shape(of: Value.self))
    }
    static var sample: [Key: Value] { [:] }
}

extension CodingFailure.Code {
    /// The code for a value of another kind than the one expected.
    static func mismatch(_ value: Value) -> CodingFailure.Code { value.isNull ? .missingValue : .typeMismatch }
}
