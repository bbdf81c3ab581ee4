internal import CZeroMQ

/// The libzmq socket itself, closed when nobody holds it any more: neither its ``Socket`` nor a loop that polls it.
///
/// That a loop holds it too is what makes it safe to drop a ``Socket`` that is being watched.
final class SocketHandle {
    let pointer: UnsafeMutableRawPointer
    let kind: SocketKind
    private let context: Context
    private var claims: [SocketFileClaim] = []

    init(_ kind: SocketKind, in context: Context) throws(ZeroMQError) {
        guard let contextPointer = context.pointer, let pointer = zmq_socket(contextPointer, kind.number) else {
            throw .failed(
                "cannot make a \(kind) socket",
                errno: zmq_errno(),
                advice: "if descriptors ran out, raise the limit (ulimit -n)"
            )
        }
        self.pointer = pointer
        self.kind = kind
        self.context = context
    }

    deinit {
        // The claims are released after this: whoever takes the file over then finds nobody at it.
        zmq_close(pointer)
    }

    func keep(_ claim: SocketFileClaim) { claims.append(claim) }

    var folder: SocketFolder? { claims.lazy.compactMap(\.folder).first }

    func set(_ option: Int32, _ isOn: Bool) throws(ZeroMQError) { try set(option, Int32(isOn ? 1 : 0)) }

    /// libzmq insists on the size of each option's number: most are 32 bits.
    func set(_ option: Int32, _ number: Int32) throws(ZeroMQError) {
        var number = number
        try check(zmq_setsockopt(pointer, option, &number, MemoryLayout<Int32>.size), option)
    }

    func set(_ option: Int32, wide number: Int64) throws(ZeroMQError) {
        var number = number
        try check(zmq_setsockopt(pointer, option, &number, MemoryLayout<Int64>.size), option)
    }

    func set(_ option: Int32, _ value: [UInt8]) throws(ZeroMQError) {
        try check(zmq_setsockopt(pointer, option, value, value.count), option)
    }

    private func check(_ result: Int32, _ option: Int32) throws(ZeroMQError) {
        guard result == 0 else {
            throw .failed("cannot set option \(option) of a \(kind) socket", errno: zmq_errno())
        }
    }

    /// The endpoint of the last bind, as libzmq resolved it.
    func lastEndpoint() throws(ZeroMQError) -> Endpoint {
        var (bytes, count) = ([CChar](repeating: 0, count: 1024), 1024)
        guard zmq_getsockopt(pointer, ZMQ_LAST_ENDPOINT, &bytes, &count) == 0 else {
            throw .failed("cannot read the endpoint of a \(kind) socket", errno: zmq_errno())
        }
        return try Endpoint(String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
}
