import CStatecastZeroMQ
import StatecastCryptography

/// A public key of CURVE, libzmq's encryption and authentication (ZeroMQ RFC 26). It identifies a node, and everyone
/// may know it.
package struct CurvePublicKey: Hashable, Sendable, LosslessStringConvertible {
    /// The size of a key, in bytes.
    static let byteCount = 32

    package let bytes: [UInt8]

    /// - Parameter bytes: 32 of them; otherwise `nil`.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// - Parameter description: 40 characters of Z85 (ZeroMQ RFC 32); otherwise `nil`.
    package init?(_ description: String) {
        guard let bytes = Z85.bytes(of: description) else { return nil }
        self.init(bytes: bytes)
    }

    /// 40 characters of Z85.
    package var description: String { Z85.text(of: bytes) }
}

/// A key pair of CURVE. The secret key is in no description, and in memory of its own.
package struct CurveKeyPair: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    package let publicKey: CurvePublicKey
    /// The text of the secret key, and a zero byte.
    private let secret: SecretMemory

    /// Makes a new random pair.
    package static func generate() -> CurveKeyPair {
        let secret = SecretMemory(byteCount: Z85.textCount + 1) { secretText in
            var publicText = [CChar](repeating: 0, count: Z85.textCount + 1)
            let result = zmq_curve_keypair(&publicText, secretText.assumingMemoryBound(to: CChar.self).baseAddress)
            precondition(result == 0, "libzmq was built without CURVE: \(systemText(of: zmq_errno()))")
        }
        guard let pair = CurveKeyPair(secret) else { preconditionFailure("libzmq made a secret key that is none") }
        return pair
    }

    /// The pair of a secret key.
    ///
    /// - Parameter secretText: 40 characters of Z85; otherwise `nil`. The caller overwrites its copy.
    package init?(secretText: some Collection<UInt8>) {
        guard secretText.count == Z85.textCount, secretText.allSatisfy(Z85.isDigit) else { return nil }
        self.init(SecretMemory(byteCount: Z85.textCount + 1) { $0.copyBytes(from: secretText) })
    }

    /// `nil` if five characters are more than four bytes can hold.
    private init?(_ secret: SecretMemory) {
        self.secret = secret
        var text = [CChar](repeating: 0, count: Z85.textCount + 1)
        guard secret.withBytes({ zmq_curve_public(&text, $0.assumingMemoryBound(to: CChar.self).baseAddress) }) == 0,
            let key = CurvePublicKey(Z85.text(text))
        else {
            return nil
        }
        publicKey = key
    }

    /// Calls a closure with the secret key: 40 characters of Z85 and a zero byte. It must not keep them.
    package func withSecretText<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try secret.withBytes(body)
    }

    package static func == (left: Self, right: Self) -> Bool { left.publicKey == right.publicKey }
    package func hash(into hasher: inout Hasher) { hasher.combine(publicKey) }

    /// Names the public key only.
    package var description: String { "the key pair of \(publicKey)" }
    package var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}

/// The text of keys: Z85 (ZeroMQ RFC 32), 40 characters for 32 bytes.
private enum Z85 {
    static let textCount = 40
    private static let digits = Set(
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#".utf8
    )

    static func isDigit(_ byte: UInt8) -> Bool { digits.contains(byte) }

    /// `nil` if the text is no key. libzmq reads beyond its table for other characters.
    static func bytes(of text: String) -> [UInt8]? {
        guard text.utf8.count == textCount, text.utf8.allSatisfy(isDigit) else { return nil }
        var bytes = [UInt8](repeating: 0, count: CurvePublicKey.byteCount)
        return zmq_z85_decode(&bytes, text) == nil ? nil : bytes
    }

    static func text(of bytes: [UInt8]) -> String {
        var characters = [CChar](repeating: 0, count: textCount + 1)
        zmq_z85_encode(&characters, bytes, bytes.count)
        return text(characters)
    }

    /// - Parameter characters: that libzmq has written, and a zero byte.
    static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
