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
    /// The wire form: checked, and deterministic but for floats, which another implementation may write longer.
    let bytes: [UInt8]

    /// - Precondition: The bytes are such a patch.
    init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }

    init(_ tree: PatchTree) {
        bytes = tree.value.encoded
    }

    /// Changes nothing.
    public static let none = Patch(checked: [0xA0])

    /// Replaces the whole value.
    public static func replace(_ value: Value) -> Patch {
        Patch(PatchTree(.replace(value)))
    }

    /// Whether the patch changes nothing.
    public var isEmpty: Bool { bytes == Self.none.bytes }

    /// Whether the patch is two patches, one after the other.
    var isSequence: Bool { bytes[0] == 0x82 }

    /// The patch in CBOR.
    public func encode() -> [UInt8] { bytes }

    /// Writes the patch as one item.
    package func encode(into writer: inout CBORWriter) { writer.encoded(bytes) }

    /// The encoding of patches to apply one after the other, from their own encodings. Decodes none of them.
    ///
    /// - Returns: `nil` if it would be nested too deeply to be decoded, or if there are no patches.
    package static func sequence(encoded patches: [[UInt8]]) -> [UInt8]? {
        if patches.isEmpty { return nil }
        let bytes = CBORWriter.bytes { $0.sequence(patches[...]) }
        return DeterministicCheck.passes(bytes, CodingLimits.standard.forPatches) ? bytes : nil
    }

    /// The patch of CBOR bytes, all of them.
    ///
    /// A patch may nest about twice as deep as `limits` allow for a value: it has levels of its own.
    ///
    /// - Throws: `malformed`, `typeMismatch` and `outOfRange` for CBOR that is no patch, and the errors of reading
    ///   CBOR.
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
        let (start, written) = (reader.offset, inner.deterministicItem())
        if let written { bytes = written } else { bytes = try inner.value().encoded }
        do throws(CodingFailure) {
            try bytes.withUnsafeBufferPointer { bytes throws(CodingFailure) in
                _ = try CheckedItems(bytes: bytes).end(ofPatch: 0)
            }
        } catch {
            throw CodingFailure(
                error.code,
                error.message,
                offset: written == nil ? nil : error.offset.map { $0 + start }
            )
        }
        reader.move(to: inner.offset)
    }
}

extension CBORWriter {
    /// Writes encoded patches, at least one, as a sequence, nested in halves, so that a long one stays within the limit
    /// of depth.
    mutating func sequence(_ patches: ArraySlice<[UInt8]>) {
        if patches.count == 1 { return encoded(patches[patches.startIndex]) }
        let middle = patches.startIndex + patches.count / 2
        array(count: 2)
        sequence(patches[..<middle])
        sequence(patches[middle...])
    }
}

extension CheckedItems {
    /// The offset after the patch at an offset.
    ///
    /// - Throws: `malformed` for any other item.
    fileprivate func end(ofPatch start: Int) throws(CodingFailure) -> Int {
        let head = head(at: start)
        var offset = head.next
        switch (head.major, head.argument) {
        case (4, 1): return end(of: offset)
        case (4, 2): return try end(ofPatch: end(ofPatch: offset))
        case (4, 3):
            for _ in 0..<2 {
                let index = self.head(at: offset)
                guard index.major == 0 else { throw failure(.typeMismatch, "an index", at: offset) }
                guard index.argument <= UInt64(PatchTree.Splice.maxIndex) else {
                    throw failure(.outOfRange, "an index", at: offset)
                }
                offset = index.next
            }
            guard bytes[offset] >> 5 == 4 else { throw failure(.typeMismatch, "an array", at: offset) }
            return end(of: offset)
        case (5, let count):
            for _ in 0..<count {
                let change = end(of: offset)
                switch bytes[change] {
                case 0xF6: offset = change + 1
                // The usual change.
                case 0x81: offset = end(of: change + 1)
                default: offset = try end(ofPatch: change)
                }
            }
            return offset
        case (4, _): throw failure(.malformed, "a patch (an array of 1, 2 or 3)", at: start)
        default: throw failure(.malformed, "a patch (a map or an array)", at: start)
        }
    }

    private func failure(_ code: CodingFailure.Code, _ expected: String, at offset: Int) -> CodingFailure {
        let came = value(offset..<end(of: offset)).summary
        return CodingFailure(code, "expected \(expected), got \(came)", offset: offset)
    }
}

extension Patch: CustomStringConvertible {
    /// The wire form in its JSON view.
    public var description: String { PatchTree(of: self).value.description }
}
