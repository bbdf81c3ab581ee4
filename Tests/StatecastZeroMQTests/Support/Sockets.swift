import StatecastZeroMQ
import Testing

extension Socket {
    /// The next message; fails the test if none comes.
    func next() throws -> [UInt8] {
        while true {
            switch try receive() {
            case .message(let bytes): return bytes
            case .multipart(let frames): throw Missing(what: "one frame, got \(frames)")
            case nil:
                guard try wait(for: .readable, timeout: .seconds(30)) else { throw Missing(what: "a message") }
            }
        }
    }

    /// Sends as soon as there is room; fails the test if there never is.
    func push(_ message: [UInt8]) throws {
        while try !send(message) {
            guard try wait(for: .writable, timeout: .seconds(30)) else { throw Missing(what: "room to send") }
        }
    }
}

/// Something that a test waits for did not come.
struct Missing: Error {
    let what: String
}

/// A socket and its endpoint.
struct Bound: ~Copyable {
    let socket: Socket
    let endpoint: Endpoint

    init(_ kind: SocketKind, at text: String, options: SocketOptions = SocketOptions()) throws {
        let socket = try Socket(kind, options: options)
        endpoint = try socket.bind(Endpoint(text))
        self.socket = socket
    }

    /// The socket alone, to pass it on.
    consuming func intoSocket() -> Socket { socket }
}

/// A connected socket.
func connected(
    _ kind: SocketKind,
    to endpoint: Endpoint,
    options: SocketOptions = SocketOptions()
) throws -> Socket {
    let socket = try Socket(kind, options: options)
    try socket.connect(endpoint)
    return socket
}

/// The code of the error that `body` throws.
func code(_ body: () throws -> Void) -> ZeroMQError.Code? {
    do { try body() } catch { return (error as? ZeroMQError)?.code }
    return nil
}
