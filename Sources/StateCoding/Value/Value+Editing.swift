extension Value {
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
}
