import StatecastCryptography
import StatecastZeroMQ

/// The public key of a node, which identifies it. Everyone may know it.
public struct NodePublicKey: Hashable, Sendable, LosslessStringConvertible {
    let curve: CurvePublicKey

    init(_ curve: CurvePublicKey) { self.curve = curve }

    /// - Parameter description: 40 characters of Z85 (ZeroMQ RFC 32); otherwise `nil`.
    public init?(_ description: String) {
        guard let curve = CurvePublicKey(description) else { return nil }
        self.init(curve)
    }

    /// 40 characters of Z85.
    public var description: String { curve.description }

    /// 32 hexadecimal digits in groups of four, to compare keys by eye: a digest of the key (BLAKE2b).
    public var fingerprint: String { ShortDigest(of: curve.bytes, domain: "sc-fingerprint").description }
}

/// The key pair of a node, for encrypted and authenticated connections (CURVE, ZeroMQ RFC 26).
///
/// The secret key is in no description. The memory of this copy is in no core dump; libzmq has copies of its own.
public struct NodeKeys: Hashable, Sendable, CustomStringConvertible {
    let curve: CurveKeyPair

    /// Makes a new random pair. The public key begins with neither `-`, as the options of a command do, nor `#`, as the
    /// comments of an access list do.
    public static func generate() -> NodeKeys {
        while true {
            let pair = CurveKeyPair.generate()
            if let first = pair.publicKey.description.first, !"-#".contains(first) { return NodeKeys(curve: pair) }
        }
    }

    /// The key that others may know.
    public var publicKey: NodePublicKey { NodePublicKey(curve.publicKey) }

    /// Names the public key only.
    public var description: String { curve.description }
}
