/// The keys of a map, or the elements of a set, encoded before the rest: they say in which order it is written.
struct EncodedKeys {
    private struct Key {
        let bytes: Range<Int>
        /// The how manyth it was.
        let position: Int
    }

    private let output: EncodingOutput
    private var keys: [Key] = []
    /// Whether the keys came in the order of their encodings.
    private(set) var cameSorted = true

    init(reserving count: Int, refusesClasses: Bool) {
        output = EncodingOutput(reserving: count * 8, refusesClasses: refusesClasses)
        keys.reserveCapacity(count)
    }

    var count: Int { keys.count }

    /// Encodes a key, in its canonical form.
    mutating func append<T: Encodable>(_ key: T, at place: @autoclosure () -> Place) throws {
        let start = output.writer.count
        if let text = key as? String {
            output.writer.canonicalText(text)
        } else if let number = key as? Int {
            output.writer.integer(Int64(number))
        } else {
            output.writer.value(try encodeTree(key, at: place(), refusesClasses: output.refusesClasses).canonical)
        }
        let key = Key(bytes: start..<output.writer.count, position: keys.count)
        if cameSorted, let last = keys.last {
            cameSorted = output.writer.bytes.withUnsafeBufferPointer { byteOrder($0, last.bytes, key.bytes) < 0 }
        }
        keys.append(key)
    }

    /// Sorts the keys by their encodings.
    ///
    /// - Returns: whether they all differ.
    mutating func sort() -> Bool {
        if cameSorted { return true }
        return output.writer.bytes.withUnsafeBufferPointer { bytes in
            keys.sort { byteOrder(bytes, $0.bytes, $1.bytes) < 0 }
            return zip(keys, keys.dropFirst()).allSatisfy { byteOrder(bytes, $0.bytes, $1.bytes) != 0 }
        }
    }

    /// Goes through the encoded keys in their order; `position` is the how manyth a key was when it came.
    func forEach(_ body: (_ key: ArraySlice<UInt8>, _ position: Int) throws -> Void) rethrows {
        let bytes = output.writer.bytes
        for key in keys { try body(bytes[key.bytes], key.position) }
    }
}
