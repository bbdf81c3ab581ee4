package import StatecastCoding
package import StatecastCore

/// The actions that a store accepts, with their decoders and examples.
///
/// Encoded, an action is a CBOR array of its name and its payload. Most clients write the array and the name in their
/// shortest form, and most actions have the type of the one before: these are recognized by their first bytes.
///
/// A class: to read it for each action retains one object, and not each of its collections.
package final class ActionTable: Sendable {
    private struct Decoder: Sendable {
        let name: String
        /// The head of the array, and the name.
        let prefix: [UInt8]
        /// Decodes a payload.
        let decode: @Sendable (borrowing ItemBuffer, Range<Int>) throws(CodingFailure) -> any Action

        /// - Parameter sender: with keys, all who may send can read the message. It then contains no part of the
        ///   payload, as a failure does, nor its path beyond the field, which may have keys of a map. The name of a
        ///   missing key is that of a field of the type.
        func rejection(_ failure: CodingFailure, to sender: FrameSender?) -> Rejection {
            guard sender != nil else { return Rejection(.undecodable, "\(name): \(failure)") }
            let field = failure.path.first.map { $0 + ": " } ?? ""
            let problem = failure.code == .missingKey ? failure.message : "\(failure.code)"
            return Rejection(.undecodable, "\(name): \(field)\(problem)")
        }
    }

    /// The store's description of its actions, in the order of registration.
    package let entries: [StoreSchema.Entry]
    private let decoders: [Decoder]
    /// By the bytes of the names. Strings are equal by canonical equivalence, which costs a peer's text more.
    private let indices: [[UInt8]: Int]

    package init(_ actions: [any Action.Type]) throws(ActionNameFailure) {
        var entries: [StoreSchema.Entry] = []
        var decoders: [Decoder] = []
        var indices: [[UInt8]: Int] = [:]
        var names: Set<String> = []
        for action in actions {
            let decoder = Self.decoder(of: action)
            let name = decoder.name
            guard name.utf8.count <= Limits.maxActionNameBytes else { throw .tooLong(name) }
            // Also two spellings of one text: sets of names, such as those of rights, do not tell them apart.
            guard names.insert(name).inserted else { throw .duplicate(name) }
            indices[Array(name.utf8)] = decoders.count
            decoders.append(decoder)
            entries.append(StoreSchema.Entry(name: name, example: Self.example(of: action)))
        }
        self.entries = entries
        self.decoders = decoders
        self.indices = indices
    }

    private static func decoder<A: Action>(of type: A.Type) -> Decoder {
        let name = A.name
        return Decoder(name: name, prefix: NamedEncoding.encode(name: name)) { items, payload throws(CodingFailure) in
            try items.decode(type, at: payload)
        }
    }

    private static func example<A: Action>(of type: A.Type) -> [UInt8]? {
        let encode = { (value: any Encodable) in try StateEncoder().example(of: value) }
        return (A.example.flatMap { try? encode($0) } ?? Value(exampleOf: type, encode))?.encoded
    }

    /// The state of decoding, from one action of a batch to the next.
    package struct Memory: Sendable {
        /// The index of the entry that matched last, which is tried first.
        package var index: Int
        /// The first unknown name, its sender, and its rejection. Only this name gets a hint, which costs a comparison
        /// with all known ones.
        fileprivate var unknown: (name: [UInt8], sender: FrameSender?, rejection: Rejection)?

        package init(index: Int = 0) { self.index = index }
    }

    /// Decodes an action of a frame.
    ///
    /// - Parameters:
    ///   - content: the range of the action, without the head of its byte string.
    ///   - sender: needs the right to send the action.
    ///   - memory: of the actions before it.
    /// - Throws: ``Rejection`` with code `unknown-action`, `not-permitted` or `undecodable`; the message names the
    ///   actions that the sender may send, the missing right, or the field.
    package func decode(
        _ content: Range<Int>,
        in items: borrowing ItemBuffer,
        from sender: FrameSender?,
        after memory: inout Memory
    ) throws(Rejection) -> any Action {
        guard let index = index(of: content, in: items, after: memory.index) else {
            return try decodeAnyForm(items.copy(of: content), from: sender, after: &memory)
        }
        memory.index = index
        let decoder = decoders[index]
        try sender?.requirePermission(toSend: decoder.name)
        do throws(CodingFailure) {
            return try decoder.decode(items, (content.lowerBound + decoder.prefix.count)..<content.upperBound)
        } catch {
            _ = try parts(of: items.copy(of: content))
            throw decoder.rejection(error, to: sender)
        }
    }

    /// The entry of an action in its shortest form.
    private func index(of content: Range<Int>, in items: borrowing ItemBuffer, after last: Int) -> Int? {
        if decoders.indices.contains(last), items.hasPrefix(decoders[last].prefix, at: content) { return last }
        for index in decoders.indices where items.hasPrefix(decoders[index].prefix, at: content) { return index }
        return nil
    }

    /// The name of an action, without decoding its payload; `nil` if the store has no such action.
    package func name(of content: Range<Int>, in items: borrowing ItemBuffer) -> String? {
        let known =
            index(of: content, in: items, after: 0)
            ?? (try? parts(of: items.copy(of: content)).name).flatMap { indices[Array($0.utf8)] }
        return known.map { decoders[$0].name }
    }

    /// Decodes an action of this process, or of the journal.
    ///
    /// - Throws: as ``decode(_:in:from:after:)``.
    package func decode(_ bytes: [UInt8]) throws(Rejection) -> any Action {
        try ItemBuffer.withItems(bytes[...]) { items throws(Rejection) in
            var memory = Memory()
            return try decode(0..<bytes.count, in: items, from: nil, after: &memory)
        }
    }

    /// Decodes an action whose array or name may have any well-formed form.
    private func decodeAnyForm(
        _ bytes: [UInt8],
        from sender: FrameSender?,
        after memory: inout Memory
    ) throws(Rejection) -> any Action {
        let (name, payload) = try parts(of: bytes)
        guard let index = indices[Array(name.utf8)] else { throw unknown(name, from: sender, after: &memory) }
        try sender?.requirePermission(toSend: name)
        do throws(CodingFailure) {
            return try ItemBuffer.withItems(bytes[payload]) { items throws(CodingFailure) in
                try decoders[index].decode(items, 0..<payload.count)
            }
        } catch {
            throw decoders[index].rejection(error, to: sender)
        }
    }

    /// - Parameter sender: the message names only actions that it may send.
    private func unknown(_ name: String, from sender: FrameSender?, after memory: inout Memory) -> Rejection {
        let bytes = Array(name.utf8)
        if let unknown = memory.unknown, unknown.name == bytes, unknown.sender == sender { return unknown.rejection }
        let isFirst = memory.unknown == nil
        let names = entries.map(\.name).filter { sender?.maySend($0) ?? true }
        let near = isFirst ? name.nearest(among: names) : nil
        let hint = near.map { " (did you mean \"\($0)\"?)" } ?? ""
        let known = names.joined(separator: ", ")
        let rejection = Rejection(.unknownAction, "there is no action \"\(name.prefix(64))\"\(hint), only: \(known)")
        if isFirst { memory.unknown = (bytes, sender, rejection) }
        return rejection
    }

    /// The name of an action, and the range of its payload.
    ///
    /// - Throws: ``Rejection`` with code `unknown-action` for a name that no action can have, which is not read; with
    ///   code `undecodable` for other bytes than those of an action.
    private func parts(of bytes: [UInt8]) throws(Rejection) -> (name: String, payload: Range<Int>) {
        var reader = CBORReader(bytes)
        let nameBytes: Int
        do throws(CodingFailure) {
            guard try reader.arrayCount() == 2 else {
                throw CodingFailure(.malformed, "an action is an array of its name and its payload")
            }
            var ahead = reader
            nameBytes = try ahead.textInPlace().count
        } catch {
            throw Rejection(.undecodable, "not an action: \(error)")
        }
        guard nameBytes <= Limits.maxActionNameBytes else {
            throw Rejection(
                .unknownAction,
                "the name of an action has at most \(Limits.maxActionNameBytes) bytes, this one has \(nameBytes)"
            )
        }
        do throws(CodingFailure) {
            let name = try reader.text()
            let start = reader.offset
            try reader.skip()
            let payload = start..<reader.offset
            try reader.requireEnd()
            return (name, payload)
        } catch {
            throw Rejection(.undecodable, "not an action: \(error)")
        }
    }
}

extension ActionTable {
    /// Encodes an action: its name and its payload.
    package static func encode<A: Action>(_ action: A) throws(CodingFailure) -> [UInt8] {
        try NamedEncoding.encode(action, name: A.name) { Array($0) }
    }
}

/// A store cannot have actions with such names.
package enum ActionNameFailure: Error, Hashable {
    /// Two actions have one name.
    case duplicate(String)
    /// A name is longer than ``Limits/maxActionNameBytes``.
    case tooLong(String)
}
