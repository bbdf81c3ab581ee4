import CStatecastZeroMQ

/// How a socket encrypts its connections and authenticates its peers.
package enum CurveSecurity: Hashable, Sendable {
    /// Accepts the peers that the domain permits.
    case server(CurveKeyPair, AuthenticationDomain)
    /// Connects to the server that has the secret key of a public one.
    case client(CurveKeyPair, server: CurvePublicKey)

    func apply(to socket: SocketHandle) throws(ZeroMQError) {
        switch self {
        case .server(let keys, let domain):
            guard domain.isOf(socket.context) else {
                throw ZeroMQError(
                    .invalidOption,
                    "the authentication domain \(domain.name.debugDescription) is not of the socket's context"
                )
            }
            try socket.set(ZMQ_CURVE_SERVER, true)
            try socket.set(ZMQ_ZAP_DOMAIN, Array(domain.name.utf8))
            try Self.setSecret(of: keys, socket)
        case .client(let keys, let server):
            try socket.set(ZMQ_CURVE_SERVERKEY, server.bytes)
            try socket.set(ZMQ_CURVE_PUBLICKEY, keys.publicKey.bytes)
            try Self.setSecret(of: keys, socket)
        }
    }

    private static func setSecret(of keys: CurveKeyPair, _ socket: SocketHandle) throws(ZeroMQError) {
        try keys.withSecretText { (text) throws(ZeroMQError) in try socket.set(ZMQ_CURVE_SECRETKEY, text) }
    }
}
