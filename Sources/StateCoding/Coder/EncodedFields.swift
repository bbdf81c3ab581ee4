#if canImport(Darwin)
    private import Darwin
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#endif

/// Where the entries of one map of a `DecodingSource` are: found once, looked up by name.
struct EncodedFields {
    private struct Field {
        let order: EncodedOrder
        let key: Int
        let value: Int
    }

    /// In the order of their keys, as in the map. Raw memory: looking into an array would count a reference for every
    /// field that is asked for.
    private var fields: UnsafeMutablePointer<Field>
    private var capacity: Int
    private(set) var count = 0
    /// Where the map ends; -1 until a map was found.
    private(set) var end = -1

    init() {
        capacity = 16
        fields = .allocate(capacity: capacity)
    }

    /// Must be the last of it: the memory belongs to one decoder, which ends with it.
    func deallocate() {
        fields.deallocate()
    }

    var isFound: Bool { end >= 0 }

    /// Reads over the map at an offset, if there is one.
    mutating func find(in bytes: UnsafeBufferPointer<UInt8>, at offset: Int) {
        let (major, argument, next) = DecodingSource.head(at: offset, in: bytes)
        guard major == 5 else { return }
        // The check of the source has seen that many entries.
        let count = Int(argument)
        if count > capacity { reallocate(count) }
        var (offset, field) = (next, fields)
        for _ in 0..<count {
            let value = DecodingSource.end(of: offset, in: bytes)
            let order = EncodedOrder(bytes, at: offset, count: value &- offset)
            field.initialize(to: Field(order: order, key: offset, value: value))
            field += 1
            offset = DecodingSource.end(of: value, in: bytes)
        }
        (self.count, end) = (count, offset)
    }

    /// Forgets the map. Much memory is not kept.
    mutating func forget() {
        (count, end) = (0, -1)
        if capacity > 64 { reallocate(16) }
    }

    @inline(never)
    private mutating func reallocate(_ capacity: Int) {
        fields.deallocate()
        fields = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    /// Where the value of a key is.
    @inline(__always)
    func offset(of name: String, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let found = name.utf8.withContiguousStorageIfAvailable { offset(of: $0, in: bytes) }
        if let found, let found { return found }
        return found != nil && name.utf8.allSatisfy { $0 < 0x80 } ? nil : offset(ofUnusual: name, in: bytes)
    }

    @inline(__always)
    private func offset(of name: UnsafeBufferPointer<UInt8>, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let order = EncodedOrder(text: name)
        // Looking at all of a few fields beats halving them.
        if count > 16 { return search(name, order, in: bytes) }
        var field = fields
        let end = fields + count
        while field < end {
            if field.pointee.order == order, compare(field.pointee, with: name, in: bytes) == 0 {
                return field.pointee.value
            }
            field += 1
        }
        return nil
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

    /// How a key compares with a name that has the same order: below, at or above zero.
    @inline(__always)
    private func compare(
        _ field: Field,
        with name: UnsafeBufferPointer<UInt8>,
        in bytes: UnsafeBufferPointer<UInt8>
    ) -> Int32 {
        // A short key is all in its order.
        if name.count < EncodedOrder.bytes { return 0 }
        let content = field.key + CBORWriter.headBytes(name.count)
        guard content + name.count == field.value, let base = bytes.baseAddress, let wanted = name.baseAddress else {
            return field.value < content + name.count ? -1 : 1
        }
        return memcmp(base + content, wanted, name.count)
    }

    /// Keys are written in their canonical form.
    @inline(never)
    private func offset(ofUnusual name: String, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var canonical = name.canonical
        return canonical.withUTF8 { offset(of: $0, in: bytes) }
    }

    /// Where the key of an entry is.
    func keyOffset(_ index: Int) -> Int {
        precondition(index < count, "expected one of \(count) entries, got \(index)")
        return fields[index].key
    }
}
