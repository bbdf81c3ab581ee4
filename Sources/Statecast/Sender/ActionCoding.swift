internal import StateCoding
internal import Threading

/// Encodes actions: a CBOR array of the name and the payload.
enum ActionCoding {
    /// - Throws: ``StatecastError`` with code `definition` if the action has no encoding.
    static func encode<A: Action>(_ action: A) throws -> [UInt8] {
        do { return encode(name: name(of: A.self), payload: try StateEncoder().encode(action)) } catch {
            throw StatecastError(.definition, "\(A.name) cannot be encoded: \(error)", cause: error)
        }
    }

    /// Encodes an action from its name and encoded payload.
    static func encode(name: String, payload: [UInt8]) -> [UInt8] {
        CBORWriter.bytes(reserving: name.utf8.count + payload.count + 8) { writer in
            writer.array(count: 2)
            writer.text(name)
            writer.encoded(payload)
        }
    }

    /// The name of an encoded action; `nil` if the bytes are not those of an action.
    static func name(in bytes: [UInt8]) -> String? {
        var reader = CBORReader(bytes)
        return (try? reader.arrayCount()).flatMap { _ in try? reader.text() }
    }

    /// A cache of the names by type: deriving the default name from the type costs more than encoding a small action.
    private static let names = Locked<[ObjectIdentifier: String]>([:])

    private static func name<A: Action>(of type: A.Type) -> String {
        if let name = names.withLock({ $0[ObjectIdentifier(type)] }) { return name }
        let name = A.name
        names.withLock { $0[ObjectIdentifier(type)] = name }
        return name
    }
}
