/// Why something about a socket, an endpoint or a poll loop failed.
package struct ZeroMQError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, for code that decides what to do next.
    package let code: Code

    /// What was tried, what was expected, what came, and what to do.
    package let message: String

    /// What the system said, if it was asked.
    package let cause: SystemCause?

    init(_ code: Code, _ message: String, cause: SystemCause? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// One line: the code, the message, the cause.
    package var description: String {
        let line = "\(code): \(message)"
        return if let cause { "\(line) (\(cause))" } else { line }
    }
}

extension ZeroMQError {
    /// The kind of a ``ZeroMQError``. More may be added, so a `switch` over it needs a `default`.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// Somebody else is bound to the endpoint.
        package static let addressInUse = Code(description: "address-in-use")
        /// The endpoint's host or folder does not exist on this machine.
        package static let addressNotAvailable = Code(description: "address-not-available")
        /// The endpoint cannot be read, or does not fit what was asked of it.
        package static let invalidEndpoint = Code(description: "invalid-endpoint")
        /// An option is out of its range.
        package static let invalidOption = Code(description: "invalid-option")
        /// This process may not use the endpoint.
        package static let permission = Code(description: "permission")
        /// File descriptors, sockets, threads or memory ran out.
        package static let resourcesExhausted = Code(description: "resources-exhausted")
        /// The context was shut down; the socket is of no more use.
        package static let terminated = Code(description: "terminated")
        /// This kind of socket cannot do what was asked.
        package static let unsupported = Code(description: "unsupported")
        /// Anything else; the cause says what.
        package static let system = Code(description: "system")
    }

    /// An error number of the operating system, or of libzmq, which continues them.
    package struct SystemCause: Hashable, Sendable, CustomStringConvertible {
        /// The number, as `errno` holds it.
        package let number: Int32

        /// The system's own words, and the number.
        package var description: String { "\(systemText(of: number)), errno \(number)" }
    }
}
