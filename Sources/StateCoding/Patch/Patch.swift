/// The difference of two states, shaped like the state: only what changed, where it changed.
///
/// On the wire (CBOR) a patch is one of
/// - a map `{key: patch, ...}`: changes parts, of a map by key, of an array by index. `null` in the place of a patch
///   removes the key, if it is there; a replacement of a key that is absent in the target inserts it. The empty map
///   changes nothing;
/// - `[value]`: replaces;
/// - `[patch, patch]`: the first, then the second;
/// - `[offset, removedCount, [value, ...]]`: replaces elements of an array.
///
/// Patches hold new values, not increments: applying one twice in a row is safe, except for splices.
public struct Patch: Hashable, Sendable {
    enum Form: Hashable, Sendable {
        case replace(Value)
        case fields(KeyedEntries<FieldChange>)
        case splice(Splice)
        /// Two or more, one after the other; none of them a sequence.
        case sequence([Patch])
    }

    enum FieldChange: Hashable, Sendable {
        case remove
        case change(Patch)
    }

    struct Splice: Hashable, Sendable {
        var offset: Int
        var removed: Int
        var inserted: [Value]

        /// Half of the range of `Int`, so that two indexes can be added.
        static let indexMax = Int.max / 2

        /// The end of the removed elements, in the old array.
        var removedEnd: Int { offset + removed }
        /// The end of the inserted elements, in the new array.
        var insertedEnd: Int { offset + inserted.count }
    }

    var form: Form

    init(_ form: Form) {
        self.form = form
    }

    /// Changes nothing.
    public static let none = Patch(.fields(KeyedEntries()))

    /// Replaces the whole value.
    public static func replace(_ value: Value) -> Patch {
        Patch(.replace(value))
    }

    static func splice(_ offset: Int, _ removed: Int, _ inserted: [Value]) -> Patch {
        Patch(.splice(Splice(offset: offset, removed: removed, inserted: inserted)))
    }

    static func sequence(_ patches: [Patch]) -> Patch {
        let parts = patches.flatMap(\.parts).filter { !$0.isEmpty }
        return parts.count > 1 ? Patch(.sequence(parts)) : parts.first ?? .none
    }

    /// Whether the patch changes nothing.
    public var isEmpty: Bool {
        guard case .fields(let fields) = form else { return false }
        return fields.count == 0
    }

    /// Whether the patch replaces the whole value.
    var isReplacement: Bool {
        if case .replace = form { return true }
        return false
    }

    /// Whether the patch is a sequence with a replacement of the whole value.
    var replacesInBetween: Bool {
        guard case .sequence(let parts) = form else { return false }
        return parts.contains(where: \.isReplacement)
    }

    /// The patches to apply one after the other.
    var parts: [Patch] {
        guard case .sequence(let parts) = form else { return [self] }
        return parts
    }
}

// MARK: Wire form

extension Patch {
    /// The patch in CBOR.
    public func encode() -> [UInt8] { CBORWriter.bytes { encode(into: &$0) } }

    /// Writes the patch as one item.
    package func encode(into writer: inout CBORWriter) {
        switch form {
        case .replace(let value):
            writer.array(count: 1)
            writer.value(value)
        case .fields(let fields):
            writer.map(count: fields.count)
            for (key, change) in zip(fields.keys, fields.elements) {
                writer.value(key)
                switch change {
                case .remove: writer.null()
                case .change(let patch): patch.encode(into: &writer)
                }
            }
        case .splice(let splice):
            writer.array(count: 3)
            writer.unsigned(UInt64(splice.offset))
            writer.unsigned(UInt64(splice.removed))
            writer.array(count: splice.inserted.count)
            for value in splice.inserted { writer.value(value) }
        case .sequence(let parts): Self.nest(parts.indices, into: &writer) { parts[$0].encode(into: &$1) }
        }
    }

    /// Nests a sequence in halves, so that a long one stays within the limit of depth.
    private static func nest(
        _ parts: Range<Int>,
        into writer: inout CBORWriter,
        _ part: (Int, inout CBORWriter) -> Void
    ) {
        guard parts.count > 1 else {
            parts.first.map { part($0, &writer) }
            return
        }
        let middle = parts.lowerBound + parts.count / 2
        writer.array(count: 2)
        nest(parts.lowerBound..<middle, into: &writer, part)
        nest(middle..<parts.upperBound, into: &writer, part)
    }

    /// The encoding of patches to apply one after the other, from their own encodings. Decodes none of them.
    ///
    /// - Returns: `nil` if it would be nested too deeply to be decoded.
    package static func sequence(encoded patches: [[UInt8]]) -> [UInt8]? {
        let bytes = CBORWriter.bytes { nest(patches.indices, into: &$0) { $1.encoded(patches[$0]) } }
        return DeterministicCheck.passes(bytes, CodingLimits.standard.forPatches) ? bytes : nil
    }

    /// The patch of CBOR bytes, all of them.
    ///
    /// A patch may nest about twice as deep as `limits` allow for a value: it has levels of its own.
    ///
    /// - Throws: `malformed` for CBOR that is no patch, and the errors of reading CBOR.
    public init(decoding bytes: [UInt8], limits: CodingLimits = .standard) throws(CodingFailure) {
        var reader = CBORReader(bytes, limits: limits)
        try self.init(reading: &reader)
        try reader.requireEnd()
    }

    /// Reads the patch that comes next.
    ///
    /// - Throws: as `init(decoding:limits:)`.
    package init(reading reader: inout CBORReader) throws(CodingFailure) {
        var inner = reader.with(limits: reader.limits.forPatches)
        self = try inner.patch(depth: 0)
        reader.move(to: inner.offset)
    }
}

extension Patch: CustomStringConvertible {
    /// The wire form in its JSON view.
    public var description: String {
        var reader = CBORReader(checked: encode())
        return (try? reader.value())?.description ?? ""
    }
}

extension CBORReader {
    fileprivate mutating func patch(depth: Int) throws(CodingFailure) -> Patch {
        let inner = try deeper(depth)
        switch peek {
        case .map: return try fields(depth: inner)
        case .array: break
        default: throw failure(.malformed, "expected a patch (a map or an array), got \(peek?.words ?? "the end")")
        }
        let start = offset
        switch try arrayCount() {
        case 1: return .replace(try value(depth: inner))
        case 2: return .sequence([try patch(depth: inner), try patch(depth: inner)])
        case 3:
            let (spliceOffset, removed) = (try index(), try index())
            let count = try arrayCount()
            _ = try deeper(inner)
            var inserted: [Value] = []
            for _ in 0..<count { inserted.append(try value(depth: inner + 1)) }
            return .splice(spliceOffset, removed, inserted)
        case let count:
            move(to: start)
            throw failure(.malformed, "expected a patch (an array of 1, 2 or 3), got an array of \(count)")
        }
    }

    private mutating func fields(depth: Int) throws(CodingFailure) -> Patch {
        let start = offset
        var fields: [(key: Value, element: Patch.FieldChange)] = []
        for _ in 0..<(try mapCount()) {
            let key = try value(depth: depth).canonical
            fields.append((key, isNull() ? .remove : .change(try patch(depth: depth))))
        }
        do throws(CodingFailure) {
            return Patch(.fields(try KeyedEntries(canonical: fields)))
        } catch {
            throw CodingFailure(error.code, error.message, offset: start)
        }
    }

    private mutating func index() throws(CodingFailure) -> Int {
        let value = try unsigned()
        guard value <= UInt64(Patch.Splice.indexMax) else {
            throw failure(.outOfRange, "expected an index, got \(value)")
        }
        return Int(value)
    }
}
