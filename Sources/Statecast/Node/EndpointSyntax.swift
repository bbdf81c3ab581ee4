internal import ZeroMQ

/// Whether the text of an endpoint can be read at all, so that a command line can tell wrong usage from an endpoint that
/// is not to be had.
package enum EndpointSyntax {
    /// Checks the text; nothing is bound, connected or resolved.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint`: what was expected, and an example.
    package static func check(_ text: String) throws(StatecastError) {
        do throws(ZeroMQError) { _ = try Endpoint(text) } catch { throw StatecastError(error) }
    }
}
