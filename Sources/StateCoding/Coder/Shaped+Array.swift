extension Array: ShapedEncodable where Element: Encodable {
    func write(to output: EncodingOutput, at place: Place) throws {
        // The type is asked first: an empty array of anything can be cast to one of bytes.
        if Element.self == UInt8.self, let bytes = self as? [UInt8] { return output.writer.bytes(bytes) }
        try place.requireDepth()
        output.writer.array(count: count)
        if try writePrimitives(self, to: output, at: place) { return }
        let node = try place.open()
        try withUnsafeBufferPointer { elements in
            // A pointer is stepped without asking the runtime what a buffer of these elements is.
            guard var next = elements.baseAddress else { return }
            for index in 0..<elements.count {
                try encodeItem(next.pointee, into: output, under: DataKey.index(index), in: node)
                next += 1
            }
        }
    }

    static var partTypes: [Any.Type] { [Element.self] }
}

extension Array: ShapedDecodable where Element: Decodable {
    /// Bytes come as a byte string, or as the JSON view has them: base64, or an array of numbers.
    static func read(_ cursor: inout ItemCursor, at place: Place) throws -> [Element] {
        cursor.skipTags()
        if Element.self == UInt8.self, let bytes = cursor.takeBytesOrBase64() as? [Element] { return bytes }
        guard let count = cursor.takeArray() else {
            let expected = Element.self == UInt8.self ? "bytes (or base64 text)" : "an array"
            throw cursor.mismatch(expected, at: place)
        }
        try place.requireDepth()
        if let primitives = try readPrimitives(Element.self, count, &cursor, at: place) { return primitives }
        let node = try place.open()
        var result: [Element] = []
        result.reserveCapacity(cursor.reservation(of: Element.self, count))
        for index in 0..<count {
            result.append(try decodeItem(Element.self, &cursor, under: DataKey.index(index), in: node))
        }
        return result
    }

    static var sample: [Element] { [] }
}
