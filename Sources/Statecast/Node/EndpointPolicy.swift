import Logging
import StatecastZeroMQ

/// Checks the syntax of an endpoint, so that a command line can tell wrong usage from an endpoint that is unavailable.
/// For endpoints between processes.
package enum EndpointSyntax {
    /// Checks the text; nothing is bound, connected or resolved.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint`: what was expected, and an example.
    package static func check(_ text: String) throws(StatecastError) { _ = try parse(text) }

    /// Only `tcp` and `ipc` are allowed: an `inproc` endpoint, which a peer may name too, can be any socket of this
    /// process.
    fileprivate static func parse(_ text: String) throws(StatecastError) -> Endpoint {
        let endpoint: Endpoint
        do throws(ZeroMQError) { endpoint = try Endpoint(text) } catch { throw StatecastError(error) }
        guard endpoint.transport != .inproc else {
            throw StatecastError(
                .endpoint,
                "\"\(endpoint)\" can only be reached within one process: use tcp://127.0.0.1:7100 or ipc://PATH"
            )
        }
        return endpoint
    }
}

/// Where a node without keys may bind or connect, since nothing encrypts or authenticates the traffic.
public enum PlaintextPolicy: Sendable {
    /// Only on this machine: loopback addresses and `ipc`.
    case thisMachine
    /// Anywhere. Everyone in the network can read the state and send actions.
    case trustedNetwork

    /// Logs a warning at the start of a node without keys that may use the network.
    func warn(_ logger: Logger) {
        guard self == .trustedNetwork else { return }
        logger.warning(
            """
            nothing encrypts or authenticates the traffic: everyone in the network can read the state and \
            send actions
            """
        )
    }
}

/// Decides where a node may bind and connect.
enum EndpointPolicy {
    /// Parses an endpoint to bind or to advertise, as ``permitted(_:_:isEncrypted:)``. A relative path becomes
    /// absolute: peers have other working directories.
    static func bindable(
        _ text: String,
        _ policy: PlaintextPolicy,
        isEncrypted: Bool
    ) throws(StatecastError) -> Endpoint {
        let endpoint = try permitted(text, policy, isEncrypted: isEncrypted)
        do throws(ZeroMQError) { return try endpoint.absolute() } catch { throw StatecastError(error) }
    }

    /// Parses an endpoint, and refuses one beyond this machine unless its traffic is encrypted or the policy permits
    /// plain text.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint` or `insecure`.
    private static func permitted(
        _ text: String,
        _ policy: PlaintextPolicy,
        isEncrypted: Bool
    ) throws(StatecastError) -> Endpoint {
        let endpoint = try EndpointSyntax.parse(text)
        guard endpoint.isLocal || isEncrypted || policy == .trustedNetwork else {
            throw StatecastError(
                .insecure,
                "\(endpoint) is not on this machine, and nothing encrypts or authenticates the traffic: use keys "
                    + "(security, or --keys), or 127.0.0.1, [::1] or ipc://, or permit plain text (plaintext: "
                    + ".trustedNetwork, or --insecure) if the network is trusted"
            )
        }
        return endpoint
    }

    /// Parses the endpoints of the nodes of one primary, separated by commas.
    ///
    /// - Throws: as ``permitted(_:_:isEncrypted:)``.
    static func allConnectable(
        _ text: String,
        _ policy: PlaintextPolicy,
        isEncrypted: Bool
    ) throws(StatecastError) -> [Endpoint] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { part throws(StatecastError) in
            try connectable(String(part), policy, isEncrypted: isEncrypted)
        }
    }

    /// Parses an endpoint to connect to: with a host and a port.
    ///
    /// - Throws: as ``permitted(_:_:isEncrypted:)``.
    static func connectable(
        _ text: String,
        _ policy: PlaintextPolicy,
        isEncrypted: Bool
    ) throws(StatecastError) -> Endpoint {
        let endpoint = try permitted(text, policy, isEncrypted: isEncrypted)
        guard endpoint.isConnectable else {
            throw StatecastError(
                .endpoint,
                "\(endpoint) cannot be connected to: name the host and the port, for example tcp://127.0.0.1:7100"
            )
        }
        return endpoint
    }
}
