/// Types ask for the primitives by name, which saves finding out what they are.
extension ItemKeyedDecodingContainer {
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder.primitive(key.component) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try decoder.primitive(key.component) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decoder.primitive(key.component) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try decoder.primitive(key.component) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decoder.primitive(key.component) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try decoder.primitive(key.component) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try decoder.primitive(key.component) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try decoder.primitive(key.component) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try decoder.primitive(key.component) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try decoder.primitive(key.component) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try decoder.primitive(key.component) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try decoder.primitive(key.component) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try decoder.primitive(key.component) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try decoder.primitive(key.component) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try decoder.primitiveIfPresent(key.component)
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try decoder.primitiveIfPresent(key.component)
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try decoder.primitiveIfPresent(key.component)
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try decoder.primitiveIfPresent(key.component)
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try decoder.primitiveIfPresent(key.component)
    }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try decoder.primitiveIfPresent(key.component)
    }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try decoder.primitiveIfPresent(key.component)
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try decoder.primitiveIfPresent(key.component)
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try decoder.primitiveIfPresent(key.component)
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try decoder.primitiveIfPresent(key.component)
    }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try decoder.primitiveIfPresent(key.component)
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try decoder.primitiveIfPresent(key.component)
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try decoder.primitiveIfPresent(key.component)
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try decoder.primitiveIfPresent(key.component)
    }
}
