/// The encoding of a value with the name of its type: an array of both.
package enum NamedEncoding {
    /// The encoded beginnings, by type: deriving a name from a type costs more than encoding a small value.
    // Never freed, so that no references are counted.
    private static let prefixes = TypeTable<UnsafeBufferPointer<UInt8>>()

    /// Encodes a value into memory that is used again, and passes the bytes to `body` instead of copying them.
    ///
    /// - Parameters:
    ///   - name: the name of the type, the same at each call.
    ///   - body: must not encode anything, nor keep the bytes.
    /// - Throws: as ``StateEncoder/encode(_:)``.
    package static func encode<T: Encodable, Result>(
        _ value: T,
        name: @autoclosure () -> String,
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) throws(CodingFailure) -> Result {
        do {
            return try EncodingOutput.run { output in
                let prefix = prefixes.answer(for: T.self) { UnsafeBufferPointer(copying: encode(name: name())) }
                output.writer.encoded(prefix)
                try encodeItem(value, into: output, under: nil, in: output.root(.standard))
                return output.writer.withBytes(body)
            }
        } catch {
            throw CodingFailure(error, path: [])
        }
    }

    /// The encoding from a name and an encoded payload. Without the payload, it is the beginning of each encoding with
    /// that name.
    package static func encode(name: String, payload: [UInt8] = []) -> [UInt8] {
        CBORWriter.bytes(reserving: name.utf8.count + payload.count + 8) { writer in
            writer.array(count: 2)
            writer.text(name)
            writer.encoded(payload)
        }
    }
}
