/// An absent value is null. A present value that is itself null (`.some(nil)`) needs a mark to stay apart from it.
extension Value {
    /// The tag that says: present, though its content is null. A number of this project; readers that do not know it
    /// see null.
    static let presentTag: UInt64 = 21_332
}

extension CBORWriter {
    /// The head of the tag of presence.
    private static let presentHead: [UInt8] = {
        var writer = CBORWriter()
        writer.tag(Value.presentTag)
        return writer.bytes
    }()

    /// Marks the item behind a place as present, if it looks absent, or like the mark of another one.
    ///
    /// - Returns: whether a tag came in front of it.
    fileprivate mutating func markPresent(at offset: Int) -> Bool {
        let looksAbsent = withBytes { bytes in
            let item = bytes[offset...]
            return item.first == 0xF6 || item.first == Self.presentHead.first && item.starts(with: Self.presentHead)
        }
        guard looksAbsent else { return false }
        insert(Self.presentHead, at: offset)
        return true
    }
}

protocol AnyOptional {
    var content: Any? { get }
}

extension Optional: AnyOptional {
    var content: Any? { self }
}

extension Optional: ShapedEncodable where Wrapped: Encodable {
    func write(to output: EncodingOutput, at place: Place) throws {
        guard let self else { return output.writer.null() }
        let start = output.writer.count
        try encodeItem(self, into: output, under: place.key, in: place.node)
        // A reader counts a tag as a level.
        if output.writer.markPresent(at: start) { _ = try place.open() }
    }

    static var partTypes: [Any.Type] { [Wrapped.self] }

    static func change(from old: Self, to new: Self, at place: Place, path: DigestPath) throws -> Change? {
        if let old, let new {
            guard let change = try changeOfTree(from: old, to: new, at: place, path: path) else { return nil }
            // A replaced content may be null, before or now, which looks otherwise from outside.
            if case .replace = change.patch.form {} else { return change }
        }
        return Change.replacing(try encodeTree(old, at: place), with: try encodeTree(new, at: place), path: path)
    }
}

extension Optional: ShapedDecodable where Wrapped: Decodable {
    static func read(_ cursor: inout ItemCursor, at place: Place) throws -> Self {
        if cursor.takeNull() { return nil }
        cursor.skipTag(Value.presentTag)
        return try decodeItem(Wrapped.self, &cursor, under: place.key, in: place.node)
    }

    static var sample: Self { nil }
}
