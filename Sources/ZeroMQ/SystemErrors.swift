internal import CZeroMQ

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The system's words for an error number, libzmq's included.
func systemText(of number: Int32) -> String {
    zmq_strerror(number).map { String(cString: $0) } ?? "unknown error"
}

extension ZeroMQError {
    /// An error for a failed call, its code taken from the error number.
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

/// Whether the call that just failed was only interrupted by a signal and is to be made again.
func wasInterrupted() -> Bool { zmq_errno() == EINTR }

/// Whether the call that just failed would have had to wait.
func wouldBlock() -> Bool { zmq_errno() == EAGAIN }

/// Whether the call that just failed did so because its context is closing.
func wasTerminated() -> Bool { zmq_errno() == ETERM }
