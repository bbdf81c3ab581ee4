/// A digest and a size that two processes compare to learn whether they hold the same state. It follows changes in
/// O(change).
///
/// **Digest.** The sum, modulo 2^64, of one hash per leaf. A leaf is everything but a map or array with something in
/// it: scalars, tagged values (whole), the empty map and the empty array. A leaf's hash is taken of these bytes:
/// - for each step from the root: `4B` and the key in CBOR (a map), or `49` and the index in CBOR (an array),
/// - then `56` and the leaf in CBOR;
///
/// all in the deterministic encoding (RFC 8949, section 4.2.1) and canonical: text in Unicode NFC, -0.0 as 0.0, NaN as
/// `f97e00`. The hash is FNV-1a with 64 bits (offset basis `cbf29ce484222325`, prime `100000001b3`), followed by the
/// finaliser of MurmurHash3: `h ^= h >> 33; h *= ff51afd7ed558ccd; h ^= h >> 33; h *= c4ceb9fe1a85ec53; h ^= h >> 33`.
///
/// **Size.** The length of the whole canonical encoding.
///
/// The digest finds mistakes; it is not collision-resistant.
public struct Summary: Hashable, Sendable {
    /// The sum of the leaves' hashes.
    public private(set) var digest: UInt64
    /// The size of the canonical CBOR encoding.
    public private(set) var bytes: Int

    /// A summary that another process sent.
    public init(digest: UInt64, bytes: Int) {
        self.digest = digest
        self.bytes = bytes
    }

    /// The summary of a whole state. O(n); `advance(by:)` and `Patch.apply(to:summary:)` then keep it up to date.
    public init(of value: Value) {
        var change = SummaryChange()
        change.add(value, at: .root)
        self.init(digest: change.digest, bytes: change.bytes)
    }

    /// The summary of an encoded state. It needs no tree, which would take several times the memory.
    ///
    /// - Throws: as `Value(decoding:)`.
    public init(ofEncoded bytes: [UInt8], limits: CodingLimits = .standard) throws(CodingFailure) {
        let source = try DecodingSource(bytes, limits: limits)
        var change = SummaryChange()
        change.count(CheckedItems(bytes: source.content), at: 0, path: .root, adding: true)
        withExtendedLifetime(source) {}
        self.init(digest: change.digest, bytes: change.bytes)
    }

    mutating func advance(by change: SummaryChange) {
        digest &+= change.digest
        bytes += change.bytes
    }
}
