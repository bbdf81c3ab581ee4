/// The encoding of a value with the name of its type: an array of both.
package enum NamedEncoding {
    /// The encoded beginnings, by type: deriving a name from a type costs more than encoding a small value.
    private static let prefixes = TypeTable<[UInt8]>()

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
                let prefix = prefixes.answer(for: T.self) {
                    CBORWriter.bytes { writer in
                        writer.array(count: 2)
                        writer.text(name())
                    }
                }
                output.writer.encoded(prefix)
                try encodeItem(value, into: output, under: nil, in: output.root(.standard))
                return output.writer.withBytes(body)
            }
        } catch {
            throw CodingFailure(error, path: [])
        }
    }
}
