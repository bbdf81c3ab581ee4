internal import StateCoding
internal import SyncProtocol

/// The actions that a store accepts, by name, with their decoders and examples.
///
/// On the wire an action is a CBOR array of its name and its payload.
struct ActionRegistry: Sendable {
    private let decoders: [String: @Sendable ([UInt8]) throws(CodingFailure) -> any Action]
    /// The store's description of its actions, in the order of registration.
    let entries: [StoreSchema.Entry]

    /// - Throws: ``StatecastError`` with code `definition` if two actions have one name.
    init(_ actions: [any Action.Type]) throws(StatecastError) {
        var decoders: [String: @Sendable ([UInt8]) throws(CodingFailure) -> any Action] = [:]
        var entries: [StoreSchema.Entry] = []
        for action in actions {
            let (name, decoder, example) = Self.entry(of: action)
            guard decoders.updateValue(decoder, forKey: name) == nil else {
                throw StatecastError(.definition, "two actions are named \"\(name)\": give one another static name")
            }
            entries.append(StoreSchema.Entry(name: name, example: example))
        }
        self.decoders = decoders
        self.entries = entries
    }

    private static func entry<A: Action>(
        of type: A.Type
    ) -> (String, @Sendable ([UInt8]) throws(CodingFailure) -> any Action, [UInt8]?) {
        let example = A.example.flatMap { try? StateEncoder().value(of: $0) } ?? Value(exampleOf: type)
        return (
            A.name, { bytes throws(CodingFailure) in try StateDecoder().decode(type, from: bytes) }, example?.encoded
        )
    }

    /// Decodes an action.
    ///
    /// - Throws: ``Rejection`` with code `unknown-action` or `undecodable`; the message names the known actions, or
    ///   the field.
    func decode(_ bytes: [UInt8]) throws(Rejection) -> any Action {
        let name: String
        let payload: [UInt8]
        do throws(CodingFailure) {
            var reader = CBORReader(bytes)
            guard try reader.arrayCount() == 2 else {
                throw CodingFailure(.malformed, "an action is an array of its name and its payload")
            }
            name = try reader.text()
            payload = try reader.encodedItem()
            try reader.requireEnd()
        } catch {
            throw Rejection(.undecodable, "not an action: \(error)")
        }
        guard let decoder = decoders[name] else {
            let names = entries.map(\.name)
            let hint = name.nearest(among: names).map { " (did you mean \"\($0)\"?)" } ?? ""
            let known = names.joined(separator: ", ")
            throw Rejection(.unknownAction, "there is no action \"\(name.prefix(64))\"\(hint), only: \(known)")
        }
        do { return try decoder(payload) } catch { throw Rejection(.undecodable, "\(name): \(error)") }
    }
}
