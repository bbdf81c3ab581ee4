/// Whole and deterministic CBOR, which decoders read without further checks.
///
/// Input in another form (indefinite lengths, unsorted keys, longer heads than needed) is converted by way of a `Value`
/// first.
final class DecodingSource {
    /// The bytes. The pointer is valid as long as the source is.
    private(set) var content: UnsafeBufferPointer<UInt8>
    /// Whether the source owns the bytes. Otherwise the caller of a run owns them until the run ends.
    private var ownsBytes: Bool
    /// Whether a run goes on. Its end is the end of all decoders that use this source.
    @exclusivity(unchecked) private(set) var isRunning = false
    /// Whether a value is accepted only in the form in which it is written. Only a run that accepts the forms of JSON
    /// ends this, for its second attempt.
    @exclusivity(unchecked) private var isExact = true
    /// Whether a form of JSON was refused. If not, a second attempt is pointless.
    @exclusivity(unchecked) private var hasRefused = false
    /// Watches a reading that fills missing fields.
    @exclusivity(unchecked) var delegate: (any DecodingDelegate)?
    /// Decoders without other owners, to be used again: new ones would cost 7 % of decoding an action.
    @exclusivity(unchecked) private var idleDecoders: [ItemDecoder] = []
    /// The root of the last run.
    private var root: CodingPathNode?

    convenience init(_ value: Value) {
        self.init(deterministic: value.encoded)
    }

    init(deterministic bytes: [UInt8]) {
        content = UnsafeBufferPointer(copying: bytes)
        ownsBytes = true
    }

    private init() {
        content = UnsafeBufferPointer(start: nil, count: 0)
        ownsBytes = false
    }

    deinit {
        if ownsBytes { content.deallocate() }
    }

    // MARK: Runs

    private static let pool = ObjectPool<DecodingSource>()

    /// Calls `body` to decode a value from bytes, which are read in place if they are deterministic.
    ///
    /// - Parameter acceptsJSONForms: Whether `body` is called a second time, with the forms of JSON accepted, if it
    ///   failed and one of them was refused.
    /// - Throws: the errors of the bytes, with an offset; the errors of the body.
    static func run<Result>(
        _ bytes: [UInt8],
        limits: CodingLimits,
        acceptsJSONForms: Bool = false,
        _ body: (DecodingSource) throws -> Result
    ) throws -> Result {
        guard DeterministicCheck.passes(bytes, limits) else {
            return try run(Value(decoding: bytes, limits: limits), acceptsJSONForms: acceptsJSONForms, body)
        }
        return try run(deterministic: bytes, acceptsJSONForms: acceptsJSONForms, body)
    }

    static func run<Result>(
        _ value: Value,
        acceptsJSONForms: Bool = false,
        _ body: (DecodingSource) throws -> Result
    ) throws -> Result {
        try run(deterministic: value.encoded, acceptsJSONForms: acceptsJSONForms, body)
    }

    static func run<Result>(
        deterministic bytes: [UInt8],
        acceptsJSONForms: Bool = false,
        _ body: (DecodingSource) throws -> Result
    ) throws -> Result {
        var source = acquire()
        defer { release(source) }
        return try bytes.withUnsafeBufferPointer {
            try run(&source, $0, acceptsJSONForms: acceptsJSONForms, body)
        }
    }

    /// A source without bytes, for runs.
    @inline(__always)
    static func acquire() -> DecodingSource { pool.acquire() ?? DecodingSource() }

    /// - Precondition: The source has no other owner.
    @inline(__always)
    static func release(_ source: consuming DecodingSource) { pool.release(source) }

    /// Calls `body` to decode a value from deterministic bytes. Replaces the source if a type keeps it.
    static func run<Result>(
        _ source: inout DecodingSource,
        _ bytes: UnsafeBufferPointer<UInt8>,
        acceptsJSONForms: Bool,
        _ body: (DecodingSource) throws -> Result
    ) throws -> Result {
        source.content = bytes
        source.isRunning = true
        defer {
            source.isRunning = false
            for index in source.idleDecoders.indices { source.idleDecoders[index].endRun() }
            if isKnownUniquelyReferenced(&source) {
                source.content = UnsafeBufferPointer(start: nil, count: 0)
            } else {
                // A type kept its decoder, which may read from the source later.
                source.content = UnsafeBufferPointer(copying: bytes)
                source.ownsBytes = true
                source = DecodingSource()
            }
        }
        (source.isExact, source.hasRefused) = (true, false)
        do { return try body(source) } catch {
            guard acceptsJSONForms, source.hasRefused else { throw error }
            source.isExact = false
            return try body(source)
        }
    }

    /// Whether the forms of JSON are accepted for values that JSON cannot express. Records a refusal.
    func acceptsJSONForms() -> Bool {
        if isExact { hasRefused = true }
        return !isExact
    }

    /// The root of a run.
    func root(_ limits: CodingLimits) -> CodingPathNode {
        if let root, root.limits == limits { return root }
        let root = CodingPathNode(limits: limits)
        self.root = root
        return root
    }

    // MARK: Decoders

    @inline(__always)
    func decoder(at offset: Int, under key: (any CodingKey)?, in node: CodingPathNode) -> ItemDecoder {
        guard let decoder = idleDecoders.popLast() else { return ItemDecoder(self, at: offset, under: key, in: node) }
        decoder.serveAgain(self, at: offset, under: key, in: node)
        return decoder
    }

    /// Keeps a decoder without other owners for the rest of the run.
    @inline(__always)
    func keep(_ decoder: consuming ItemDecoder) {
        guard isRunning else { return }
        decoder.prepareForReuse()
        idleDecoders.append(decoder)
    }

    // MARK: Items by their offsets

    private var items: CheckedItems { CheckedItems(bytes: content) }

    @inline(__always)
    func head(at offset: Int) -> CBORHead { items.head(at: offset) }

    /// The offset after the item at an offset.
    func end(of offset: Int) -> Int { items.end(of: offset) }

    @inline(__always)
    subscript(offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < content.count, "the source ends before an item at \(offset)")
        return content[offset]
    }

    /// A part, in the memory of the source: valid as long as the source, and during a run as long as the run.
    subscript(range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        precondition(range.upperBound <= content.count, "the source ends before \(range.upperBound)")
        return UnsafeBufferPointer(rebasing: content[range])
    }
}

/// Watches the types that are read, and supplies the fields that are missing.
protocol DecodingDelegate: AnyObject {
    /// A type begins to read the item at an offset.
    func enter(_ type: Any.Type, at offset: Int, under key: (any CodingKey)?, in node: CodingPathNode)

    /// The type that was entered last has read its item, or has failed.
    func leave(hasRead: Bool)

    /// The type that was entered last reads a map by its keys, and does not know some of them.
    func opened(at offset: Int, unknown names: Set<String>, in node: CodingPathNode)

    /// The value to read in place of a missing field.
    func value(of name: String, in node: CodingPathNode) -> Value?
}

extension UnsafeBufferPointer<UInt8> {
    /// A copy in memory of its own, which the caller has to deallocate.
    init(copying bytes: some Collection<UInt8>) {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = copy.initialize(fromContentsOf: bytes)
        self.init(copy)
    }
}
