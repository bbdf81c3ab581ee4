/// The offsets of the fields of one map of a `DecodingSource`: found once, looked up by name.
struct EncodedFields {
    private struct Field {
        var order = EncodedOrder()
        var key = 0
        var value = 0
    }

    /// The first `count` are in the order of their keys, as in the map. The rest are of an earlier map.
    private var fields: [Field] = []
    private(set) var count = 0
    /// The offset after the map; -1 until a map was found.
    private(set) var end = -1

    var isFound: Bool { end >= 0 }

    /// Finds the fields of the map at an offset, if there is one.
    mutating func find(in bytes: UnsafeBufferPointer<UInt8>, at offset: Int) {
        let items = CheckedItems(bytes: bytes)
        let head = items.head(at: offset)
        guard head.major == 5 else { return }
        // The source is checked: it holds this many entries.
        count = Int(head.argument)
        if fields.count < count { fields = Array(repeating: Field(), count: max(16, count)) }
        var offset = head.next
        fields.withUnsafeMutableBufferPointer { fields in
            for index in 0..<count {
                let value = items.end(of: offset)
                let order = EncodedOrder(bytes, at: offset, count: value &- offset)
                fields[index] = Field(order: order, key: offset, value: value)
                offset = items.end(of: value)
            }
        }
        end = offset
    }

    /// Removes the fields, and keeps a little memory.
    mutating func removeAll() {
        if count > 64 { fields = [] }
        (count, end) = (0, -1)
    }

    /// The offset of the value of a key.
    @inline(__always)
    func offset(of name: String, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let found = name.utf8.withContiguousStorageIfAvailable { offset(of: $0, in: bytes) }
        if let found, let found { return found }
        return found != nil && name.utf8.allSatisfy { $0 < 0x80 } ? nil : offset(ofUnusual: name, in: bytes)
    }

    @inline(__always)
    private func offset(of name: UnsafeBufferPointer<UInt8>, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let order = EncodedOrder(text: name)
        // A linear search is faster for few fields.
        if count > 16 { return search(name, order, in: bytes) }
        return fields.withUnsafeBufferPointer { fields in
            let field = fields[..<count].first { $0.order == order && compare($0, with: name, in: bytes) == 0 }
            return field?.value
        }
    }

    @inline(never)
    private func search(
        _ name: UnsafeBufferPointer<UInt8>,
        _ order: EncodedOrder,
        in bytes: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            let field = fields[middle]
            if field.order == order {
                let sign = compare(field, with: name, in: bytes)
                if sign == 0 { return field.value }
                if sign < 0 { low = middle + 1 } else { high = middle }
            } else if field.order < order {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return nil
    }

    /// The order of a key and a name with the same first eight bytes: below, at or above zero.
    @inline(__always)
    private func compare(
        _ field: Field,
        with name: UnsafeBufferPointer<UInt8>,
        in bytes: UnsafeBufferPointer<UInt8>
    ) -> Int32 {
        // The order holds all of a short key.
        if name.count < EncodedOrder.bytes { return 0 }
        let content = field.key + CBORWriter.headBytes(name.count)
        guard content + name.count == field.value, let base = bytes.baseAddress, let wanted = name.baseAddress else {
            return field.value < content + name.count ? -1 : 1
        }
        return byteOrder(base + content, wanted, name.count)
    }

    /// Looks a name up in its canonical form, which keys have.
    @inline(never)
    private func offset(ofUnusual name: String, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var canonical = name.canonical
        return canonical.withUTF8 { offset(of: $0, in: bytes) }
    }

    /// The offset of the key of a field.
    func keyOffset(_ index: Int) -> Int {
        precondition(index < count, "expected one of \(count) entries, got \(index)")
        return fields[index].key
    }
}
