internal import ZeroMQ

/// Where a node may bind and connect.
enum Reachability {
    /// Parses an endpoint and refuses one within the process, and one beyond this machine unless that was asked for.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint` or `insecure`.
    static func endpoint(_ text: String, insecure: Bool) throws -> Endpoint {
        let endpoint: Endpoint
        do { endpoint = try Endpoint(text) } catch { throw StatecastError(error) }
        try EndpointSyntax.checkTransport(of: endpoint)
        guard endpoint.isLocal || insecure else {
            throw StatecastError(
                .insecure,
                "\(endpoint) is not on this machine, and nothing encrypts or checks what passes there: use 127.0.0.1, "
                    + "[::1] or ipc://, or say --insecure (insecure: true) if the network itself is trusted"
            )
        }
        return endpoint
    }

    /// An endpoint to connect to: with a host and a port.
    static func connectable(_ text: String, insecure: Bool) throws -> Endpoint {
        let endpoint = try endpoint(text, insecure: insecure)
        guard endpoint.isConnectable else {
            throw StatecastError(
                .endpoint,
                "\(endpoint) cannot be connected to: name the host and the port, for example tcp://127.0.0.1:7100"
            )
        }
        return endpoint
    }
}
