import CStatecastZeroMQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The failure of an operation on a socket, an endpoint or a poll loop.
package struct ZeroMQError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, on which callers decide.
    package let code: Code

    /// The attempted operation, the expected and the actual input, and advice.
    package let message: String

    /// The system's error, if a system call failed.
    package let cause: SystemCause?

    package init(_ code: Code, _ message: String, cause: SystemCause? = nil) {
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
    /// The kind of a ``ZeroMQError``. Later versions may add kinds, so a `switch` needs a `default`.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// Another socket is bound to the endpoint.
        package static let addressInUse = Code(description: "address-in-use")
        /// The endpoint's host or folder does not exist on this machine.
        package static let addressNotAvailable = Code(description: "address-not-available")
        /// The endpoint is malformed, or unsuitable for the operation.
        package static let invalidEndpoint = Code(description: "invalid-endpoint")
        /// An option is out of its range.
        package static let invalidOption = Code(description: "invalid-option")
        /// This process lacks permission for the endpoint.
        package static let permission = Code(description: "permission")
        /// File descriptors, sockets, threads or memory ran out.
        package static let resourcesExhausted = Code(description: "resources-exhausted")
        /// The context was shut down, and the socket is unusable.
        package static let terminated = Code(description: "terminated")
        /// This kind of socket does not support the operation.
        package static let unsupported = Code(description: "unsupported")
        /// Any other failure; see the cause.
        package static let system = Code(description: "system")
    }

    /// An error number of the operating system, or of libzmq, which extends them.
    package struct SystemCause: Hashable, Sendable, CustomStringConvertible {
        /// The value of `errno`.
        package let number: Int32

        /// The system's description and the number.
        package var description: String { "\(systemText(of: number)), errno \(number)" }
    }
}

/// The system's description of an error number, libzmq's included.
func systemText(of number: Int32) -> String {
    zmq_strerror(number).map { String(cString: $0) } ?? "unknown error"
}

extension ZeroMQError {
    /// Creates the error of a failed call; its code follows from the error number.
    static func failed(_ what: String, errno number: Int32, advice: String? = nil) -> ZeroMQError {
        let message = if let advice { "\(what); \(advice)" } else { what }
        return ZeroMQError(Code(errno: number), message, cause: SystemCause(number: number))
    }
}

extension ZeroMQError.Code {
    init(errno number: Int32) {
        self =
            switch number {
            case EADDRINUSE: .addressInUse
            case EADDRNOTAVAIL, ENODEV, ENOENT, ENOTDIR, ENXIO: .addressNotAvailable
            case EINVAL, ENAMETOOLONG, EPROTONOSUPPORT: .invalidEndpoint
            case EACCES, EPERM, EROFS, ELOOP: .permission
            case EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN: .resourcesExhausted
            case ENOTSUP, EOPNOTSUPP: .unsupported
            case ETERM: .terminated
            default: .system
            }
    }
}

/// Whether a signal interrupted the last failed call, which has to be repeated.
func wasInterrupted() -> Bool { zmq_errno() == EINTR }

/// Whether the last failed call would have blocked.
func wouldBlock() -> Bool { zmq_errno() == EAGAIN }

/// Whether the last call failed because its context is shutting down.
func wasTerminated() -> Bool { zmq_errno() == ETERM }
