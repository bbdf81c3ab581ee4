/// The entries of a collection, which are sorted once they are written: it hands them out in its own order.
extension EncodingOutput {
    /// Writes a key of a collection, in its canonical form; what belongs to it comes next.
    func beginEntry<Key: Encodable>(_ key: Key, at place: @autoclosure () -> Place) throws {
        // Key is that type, which the compiler cannot know; a cast of the key would cost more than writing most of them.
        if Key.self == String.self {
            let key = unsafeBitCast(key, to: String.self)
            do throws(CodingFailure) { return try contents.pointee.beginEntry(key) } catch {
                throw place().failure(error.code, error.message)
            }
        }
        let start = writer.count
        if Key.self == Int.self {
            writer.integer(Int64(unsafeBitCast(key, to: Int.self)))
        } else {
            let place = place()
            try encodeItem(key, into: self, under: place.key, in: place.node)
            try writer.makeCanonical(from: start)
            if writer.withBytes({ $0[start...].elementsEqual([0xF9, 0x7E, 0x00]) }) {
                throw place.failure(.unencodable, CBORWriter.keyIsNaN)
            }
        }
        contents.pointee.entries.append(writer.entry(from: start))
    }

    /// Brings the entries behind a mark into the order of their keys.
    ///
    /// - Returns: whether the keys differ.
    func endEntries(from mark: Mark) -> Bool {
        let entries = contents.pointee.entries[from: mark.entries]
        let distinct = contents.pointee.writer.sort(entries)
        contents.pointee.entries.removeAll(from: mark.entries)
        return distinct == entries.count
    }
}
