extension Value {
    /// The value under a text key of a map. Setting `nil` removes the key.
    ///
    /// - Precondition: to set a key, the value is a map.
    public subscript(key: String) -> Value? {
        get {
            guard case .map(let map) = self else { return nil }
            return map[.text(key)]
        }
        set {
            guard var map = takeMap() else {
                preconditionFailure("expected a map to set \"\(key)\" in, got \(summary)")
            }
            map[.text(key)] = newValue
            self = .map(map)
        }
    }

    /// The element of an array; `nil` outside of it.
    public subscript(index: Int) -> Value? {
        guard case .array(let array) = self, array.indices.contains(index) else { return nil }
        return array[index]
    }

    /// Changes each element of an array, or each value of a map, whatever its key is; does nothing to any other value.
    ///
    /// ```swift
    /// tree["items"]?.changeEach { item in item["price"] = 0 }
    /// ```
    public mutating func changeEach<Failure: Error>(_ body: (inout Value) throws(Failure) -> Void) throws(Failure) {
        if var elements = takeArray() {
            defer { self = .array(elements) }
            for index in elements.indices { try body(&elements[index]) }
        } else if var map = takeMap() {
            defer { self = .map(map) }
            for offset in 0..<map.count { try body(&map.entries[offset: offset]) }
        }
    }

    /// Whether this is `.null`.
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// The bool, if this is one.
    public var boolValue: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// The integer, if it fits an `Int`; an integral float counts as one.
    public var intValue: Int? { integer(Int.self) }

    /// The number, integer or float, as the nearest `Double`.
    public var doubleValue: Double? {
        switch self {
        case .float(let value): value
        case .unsigned(let value): Double(value)
        case .negative(let value): -1 - Double(value)
        default: nil
        }
    }

    /// The text, if this is one.
    public var textValue: String? {
        guard case .text(let value) = self else { return nil }
        return value
    }

    /// The bytes, if this is a byte string.
    public var bytesValue: [UInt8]? {
        guard case .bytes(let value) = self else { return nil }
        return value
    }

    /// The elements, if this is an array.
    public var arrayValue: [Value]? {
        guard case .array(let value) = self else { return nil }
        return value
    }

    /// The entries, if this is a map.
    public var mapValue: ValueMap? {
        guard case .map(let value) = self else { return nil }
        return value
    }

    /// The value as an integer type, where that is exact.
    func integer<I: FixedWidthInteger>(_ type: I.Type) -> I? {
        switch self {
        case .unsigned(let value): I(exactly: value)
        case .negative(let value):
            value <= UInt64(Int64.max) ? I(exactly: ~Int64(bitPattern: value)) : nil
        case .float(let value): I(exactly: value)
        default: nil
        }
    }

    /// Takes the map out and leaves null, so that the map has one owner.
    mutating func takeMap() -> ValueMap? {
        guard case .map(let map) = self else { return nil }
        self = .null
        return map
    }

    /// Takes the array out and leaves null.
    mutating func takeArray() -> [Value]? {
        guard case .array(let elements) = self else { return nil }
        self = .null
        return elements
    }
}
