/// What one run of an encoder has written, and what its open containers remember.
final class EncodingOutput {
    private struct Contents {
        var writer: CBORWriter
        var entries: [Int] = []
    }

    /// Whether a class instance among the values is an error.
    let refusesClasses: Bool
    /// Nobody else reaches the contents; behind a pointer they are spared the checks for that, which cost more than
    /// writing a field.
    private let contents: UnsafeMutablePointer<Contents>
    /// How many containers are open, one inside the other.
    var openLevel = 0

    init(reserving capacity: Int = 256, refusesClasses: Bool = false) {
        self.refusesClasses = refusesClasses
        contents = .allocate(capacity: 1)
        contents.initialize(to: Contents(writer: CBORWriter(reserving: capacity)))
    }

    deinit {
        contents.deinitialize(count: 1)
        contents.deallocate()
    }

    var writer: CBORWriter {
        _read { yield contents.pointee.writer }
        _modify { yield &contents.pointee.writer }
    }

    /// Where the entries of the open maps begin, the innermost map's last.
    var entries: [Int] {
        _read { yield contents.pointee.entries }
        _modify { yield &contents.pointee.entries }
    }

    /// Begins an entry of a map: the key, in its canonical form.
    func beginEntry(_ key: String) {
        contents.pointee.entries.append(contents.pointee.writer.count)
        contents.pointee.writer.canonicalText(key)
    }

    /// Where the output stands, to come back to if what follows fails.
    struct Mark {
        let bytes: Int
        let entries: Int
    }

    var mark: Mark { Mark(bytes: writer.count, entries: entries.count) }

    func takeBack(to mark: Mark) {
        writer.truncate(to: mark.bytes)
        entries.removeLast(entries.count - mark.entries)
    }

    /// Moves what was written behind a mark into an output of its own.
    func split(at mark: Mark) -> EncodingOutput {
        let rest = EncodingOutput(reserving: writer.count - mark.bytes, refusesClasses: refusesClasses)
        rest.writer.encoded(writer.bytes[mark.bytes...])
        rest.entries = entries[mark.entries...].map { $0 - mark.bytes }
        takeBack(to: mark)
        return rest
    }
}

/// Where every value passes on its way in.
func encodeItem<T: Encodable>(_ value: T, into output: EncodingOutput, under key: (any CodingKey)?, in node: PathNode)
    throws
{
    func shaped<S: ShapedEncodable>(_ type: S.Type) throws {
        // S is T, which the compiler cannot know; a cast of the value would cost more than writing most of them.
        try unsafeBitCast(value, to: S.self).write(to: output, at: Place(node: node, key: key))
    }
    if output.refusesClasses { try refuseClasses(T.self, at: Place(node: node, key: key)) }
    if let type = ShapedTypes.answer(for: T.self).encodable { return try shaped(type) }
    try ItemEncoder(output: output, key: key, in: node).encode(value)
}

/// A part of a state as a tree, for patches.
func encodeTree<T: Encodable>(_ value: T, at place: Place, refusesClasses: Bool = false) throws -> Value {
    if let value = value as? any Primitive { return value.tree }
    let output = EncodingOutput(reserving: 64, refusesClasses: refusesClasses)
    try encodeItem(value, into: output, under: place.key, in: place.node)
    // A tag is a level when it is read, though none for the type that wrote it; what was written is within the limits.
    var reader = CBORReader(output.writer.bytes, limits: CodingLimits(depthMax: .max))
    return try reader.value()
}

func refuseClasses(_ type: Any.Type, at place: Place) throws(CodingFailure) {
    if type is AnyObject.Type {
        let advice = "its changes cannot be seen; make it a struct"
        throw place.failure(.unencodable, "\(type) is a class: \(advice)")
    }
    if let shaped = type as? any ShapedEncodable.Type {
        for part in shaped.partTypes { try refuseClasses(part, at: place) }
    }
}
