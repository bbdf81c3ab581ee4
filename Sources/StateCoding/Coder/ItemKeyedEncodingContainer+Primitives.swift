/// Types ask for the primitives by name, which saves finding out what they are.
extension ItemKeyedEncodingContainer {
    mutating func encode(_ value: Bool, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: String, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: Double, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: Float, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: Int, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: Int8, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: Int16, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: Int32, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: Int64, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: UInt, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: UInt8, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: UInt16, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: UInt32, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: UInt64, forKey key: Key) throws { try encoder.put(value, key.component) }
}
