internal import ZeroMQ

/// Whether the text of an endpoint can be read at all, so that a command line can tell wrong usage from an endpoint that
/// is not to be had. For endpoints between processes.
package enum EndpointSyntax {
    /// Checks the text; nothing is bound, connected or resolved.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint`: what was expected, and an example.
    package static func check(_ text: String) throws(StatecastError) {
        let endpoint: Endpoint
        do throws(ZeroMQError) { endpoint = try Endpoint(text) } catch { throw StatecastError(error) }
        try checkTransport(of: endpoint)
    }

    /// Only `tcp` and `ipc` are allowed: an `inproc` endpoint, which a peer may name too, can be any socket of this
    /// process.
    static func checkTransport(of endpoint: Endpoint) throws(StatecastError) {
        guard endpoint.transport != .inproc else {
            throw StatecastError(
                .endpoint,
                "\"\(endpoint)\" can only be reached within one process: use tcp://127.0.0.1:7100 or ipc://PATH"
            )
        }
    }
}
