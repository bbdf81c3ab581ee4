/// Where the entries of one map are: found once, looked up by name.
struct EncodedFields {
    private struct Field {
        /// Where the key begins.
        let item: Int
        /// The text of the key; empty if it is none.
        let nameStart: Int
        let nameCount: Int
        let value: Int
    }

    private let source: DecodingSource
    private let fields: [Field]

    /// Reads over the map that comes next, and moves behind it; `nil` if it is none.
    init?(_ cursor: inout ItemCursor) {
        guard let count = cursor.takeMap() else { return nil }
        source = cursor.source
        var fields: [Field] = []
        fields.reserveCapacity(count)
        var offset = cursor.offset
        for _ in 0..<count {
            let item = offset
            let (major, argument, next) = source.head(at: item)
            let nameCount = major == 3 ? Int(argument) : -1
            offset = major == 3 ? next + nameCount : source.end(of: item)
            fields.append(Field(item: item, nameStart: next, nameCount: nameCount, value: offset))
            offset = source.end(of: offset)
        }
        cursor.offset = offset
        self.fields = fields
    }

    /// Where the value of a key is.
    func offset(of name: String) -> Int? {
        var name = name
        return name.withUTF8 { name in
            source.bytes.withUnsafeBufferPointer { bytes in
                fields.withUnsafeBufferPointer { fields in
                    Self.offset(of: name, in: fields, of: bytes)
                }
            }
        } ?? offset(ofUnusual: name)
    }

    @inline(__always)
    private static func offset(
        of name: UnsafeBufferPointer<UInt8>,
        in fields: UnsafeBufferPointer<Field>,
        of bytes: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        for field in fields where field.nameCount == name.count {
            var index = 0
            while index < name.count, bytes[field.nameStart + index] == name[index] { index += 1 }
            if index == name.count { return field.value }
        }
        return nil
    }

    /// Keys are written in their canonical form.
    private func offset(ofUnusual name: String) -> Int? {
        if name.utf8.allSatisfy({ $0 < 0xCC }) { return nil }
        let canonical = Array(name.canonical.utf8)
        return canonical.withUnsafeBufferPointer { name in
            source.bytes.withUnsafeBufferPointer { bytes in
                fields.withUnsafeBufferPointer { Self.offset(of: name, in: $0, of: bytes) }
            }
        }
    }

    /// The keys as values.
    var keys: [Value] {
        fields.map { field in
            var cursor = ItemCursor(source: source, offset: field.item)
            return cursor.value()
        }
    }
}
