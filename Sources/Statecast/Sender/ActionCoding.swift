import StatecastCoding

/// Encodes actions: a CBOR array of the name and the payload.
enum ActionCoding {
    /// Encodes an action and passes the bytes to `body`, which must not encode anything.
    ///
    /// - Throws: ``StatecastError`` with code `definition` if the action has no encoding.
    static func encode<A: Action, Result>(
        _ action: A,
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) throws(StatecastError) -> Result {
        do throws(CodingFailure) { return try NamedEncoding.encode(action, name: A.name, body) } catch {
            throw StatecastError(.definition, "\(A.name) cannot be encoded: \(error)", cause: error)
        }
    }

    /// The name of an encoded action; `nil` if the bytes are not those of an action.
    static func name(in bytes: [UInt8]) -> String? {
        var reader = CBORReader(bytes)
        return (try? reader.arrayCount()).flatMap { _ in try? reader.text() }
    }
}
