/// CBOR that is known to be whole and deterministic, so that it can be read without looking for anything else.
///
/// What comes in another form (indefinite lengths, unsorted keys, longer heads than needed) is brought into this one
/// first, by way of a `Value`. So there is one way to read a type, and it never meets anything unexpected.
final class DecodingSource {
    /// Valid as long as the source is.
    private(set) var content: UnsafeBufferPointer<UInt8>
    /// Whether the bytes belong to the source. Otherwise they belong to the caller of a run, until its end.
    private var ownsBytes: Bool
    /// Whether a run goes on, which ends the decoders that know this source.
    @exclusivity(unchecked) private(set) var isRunning = false
    /// Whether only the form is taken in which a value is written; see ``takes(_:for:)``.
    @exclusivity(unchecked) private var isExact = false
    /// Whether another form was refused: only then a second reading may go better.
    @exclusivity(unchecked) private var hasRefused = false
    /// What looks after a reading of what another build has written.
    @exclusivity(unchecked) var evolution: Evolution?
    /// Decoders that nobody uses any more: making one anew costs more than decoding a field.
    @exclusivity(unchecked) private var spareDecoders: [ItemDecoder] = []
    /// The node of a root has nothing but limits, so one serves many runs.
    private var root: PathNode?

    /// - Throws: what is wrong with the bytes, with its offset.
    convenience init(_ bytes: [UInt8], limits: CodingLimits) throws(CodingFailure) {
        self.init(owning: try Self.deterministic(bytes, limits))
    }

    convenience init(_ value: Value) {
        self.init(owning: value.encoded)
    }

    private init(owning bytes: [UInt8]) {
        content = Self.copy(bytes)
        ownsBytes = true
    }

    private init() {
        content = UnsafeBufferPointer(start: nil, count: 0)
        ownsBytes = false
    }

    deinit {
        if ownsBytes { content.deallocate() }
    }

    private static func deterministic(_ bytes: [UInt8], _ limits: CodingLimits) throws(CodingFailure) -> [UInt8] {
        DeterministicCheck.passes(bytes, limits) ? bytes : try Value(decoding: bytes, limits: limits).encoded
    }

    private static func copy(_ bytes: some Collection<UInt8>) -> UnsafeBufferPointer<UInt8> {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = copy.initialize(fromContentsOf: bytes)
        return UnsafeBufferPointer(copy)
    }

    // MARK: Runs

    private static let spare = Spare<DecodingSource>()

    /// Has a value decoded from bytes, which are read in place if they are deterministic; a second time if the type takes
    /// no exact forms.
    ///
    /// - Throws: what is wrong with the bytes, with its offset; what the body throws.
    static func run<Result>(
        _ bytes: [UInt8],
        limits: CodingLimits,
        _ body: (DecodingSource) throws -> Result
    ) throws -> Result {
        if DeterministicCheck.passes(bytes, limits) { return try run(deterministic: bytes, body) }
        return try run(Value(decoding: bytes, limits: limits), body)
    }

    /// Has a value decoded from the tree of another one.
    static func run<Result>(_ value: Value, _ body: (DecodingSource) throws -> Result) throws -> Result {
        try run(deterministic: value.encoded, body)
    }

    /// Has a value decoded from bytes that are known to be deterministic.
    static func run<Result>(
        deterministic bytes: [UInt8],
        _ body: (DecodingSource) throws -> Result
    ) throws -> Result {
        try bytes.withUnsafeBufferPointer { bytes in
            var source = spare.take() ?? DecodingSource()
            source.content = bytes
            source.isRunning = true
            defer {
                source.isRunning = false
                source.isExact = false
                for index in source.spareDecoders.indices { source.spareDecoders[index].endRun() }
                if isKnownUniquelyReferenced(&source) {
                    source.content = UnsafeBufferPointer(start: nil, count: 0)
                    spare.keep(source)
                } else {
                    // A type kept its decoder: what that one reads later must still be there.
                    source.content = copy(bytes)
                    source.ownsBytes = true
                }
            }
            (source.isExact, source.hasRefused) = (true, false)
            do { return try body(source) } catch {
                guard source.hasRefused else { throw error }
                source.isExact = false
                return try body(source)
            }
        }
    }

    /// Whether a value may be read as another one, whose own form is given. Not at first if it is a text or a float that
    /// stands for something else, as in JSON: a type that tries one after the other gets back what it wrote.
    func takes(_ value: Value, for form: Value) -> Bool {
        switch (value, form) {
        case (.text, .text): true
        case (.text, _), (.float, .unsigned), (.float, .negative): takesOtherForms()
        default: true
        }
    }

    /// Asked where another form has come; the answer is remembered.
    func takesOtherForms() -> Bool {
        if isExact { hasRefused = true }
        return !isExact
    }

    /// The root of a run.
    func root(_ limits: CodingLimits) -> PathNode {
        if let root, root.limits == limits { return root }
        let root = PathNode(limits: limits)
        self.root = root
        return root
    }

    // MARK: Decoders

    @inline(__always)
    func decoder(at offset: Int, under key: (any CodingKey)?, in node: PathNode) -> ItemDecoder {
        guard let decoder = spareDecoders.popLast() else { return ItemDecoder(self, at: offset, under: key, in: node) }
        decoder.serveAgain(self, at: offset, under: key, in: node)
        return decoder
    }

    /// Keeps a decoder that nobody uses any more, for the rest of the run.
    @inline(__always)
    func keep(_ decoder: consuming ItemDecoder) {
        guard isRunning else { return }
        decoder.becomeSpare()
        spareDecoders.append(decoder)
    }
}
