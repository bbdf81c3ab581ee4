import StatecastCoding
import StatecastProtocol

/// A whole state, encoded off the loop.
struct EncodedSnapshot: Sendable {
    let revision: Revision
    /// The digest of the published state.
    let digest: UInt64
    let bytes: Result<[UInt8], CodingFailure>
    /// Whether the digest of the encoded state is the published one. True if the state cannot be encoded.
    let isAsPublished: Bool

    init(of version: Version<some Encodable>) {
        revision = version.revision
        digest = version.summary.digest
        bytes = Result { () throws(CodingFailure) in try StateEncoder().encode(version.state) }
        let summary = (try? bytes.get()).map { try? Summary(ofEncoded: $0) }
        isAsPublished = summary.map { $0?.digest == version.summary.digest } ?? true
    }
}
