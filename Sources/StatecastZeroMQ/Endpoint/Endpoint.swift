#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A validated endpoint for binding or connecting: `tcp://host:port`, `ipc://path` or `inproc://name`.
///
/// ```swift
/// let endpoint = try Endpoint("tcp://127.0.0.1:*")
/// let actual = try socket.bind(endpoint)  // tcp://127.0.0.1:49731
/// ```
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    private enum Address: Hashable, Sendable {
        /// The system chooses port 0 at the bind.
        case tcp(Host, port: UInt16)
        case ipc(path: String)
        case inproc(name: String)
    }

    /// The transport of an endpoint.
    package enum Transport: String, Hashable, Sendable {
        case tcp, ipc, inproc
    }

    private let address: Address

    /// The transport.
    package var transport: Transport {
        switch address {
        case .tcp: .tcp
        case .ipc: .ipc
        case .inproc: .inproc
        }
    }

    /// The host of a `tcp` endpoint.
    package var host: Host? {
        if case .tcp(let host, _) = address { host } else { nil }
    }

    /// The port of a `tcp` endpoint; 0 if the system chooses one at the bind.
    package var port: UInt16? {
        if case .tcp(_, let port) = address { port } else { nil }
    }

    /// Whether other machines cannot reach it: loopback, `ipc` and `inproc`.
    package var isLocal: Bool { host?.isLoopback ?? true }

    /// Whether its host stands for all interfaces: `*`, `0.0.0.0` or `[::]`.
    package var isWildcardHost: Bool { host?.isWildcard ?? false }

    /// Whether a bind chooses its port or file: it stands for another endpoint each time.
    package var isChosenByBind: Bool { port == 0 || isWildcardFile }

    /// Whether host, port and path are specified, so that a socket can connect.
    package var isConnectable: Bool {
        switch address {
        case .tcp(let host, let port): !host.isWildcard && port != 0
        case .ipc(let path): path != Self.wildcard
        case .inproc: true
        }
    }

    /// The same port at another host; endpoints without a host are unchanged.
    ///
    /// For a server that advertises `tcp://*:7002`: its client uses the host at which it reached the server.
    package func replacingHost(with host: Host) -> Endpoint {
        if case .tcp(_, let port) = address { Endpoint(address: .tcp(host, port: port)) } else { self }
    }

    /// Whether it is an `ipc` endpoint with a relative path: each process looks it up in its own working directory.
    package var isRelative: Bool { socketFile?.hasPrefix("/") == false }

    /// The same endpoint for processes in other working folders: the path of an `ipc` endpoint becomes absolute.
    ///
    /// - Throws: `invalidEndpoint` if the path is too long for the address of a socket then.
    package func absolute() throws(ZeroMQError) -> Endpoint {
        guard isRelative, let file = socketFile else { return self }
        guard let folder = getcwd(nil, 0) else {
            throw .failed("cannot find the working folder for \(self)", errno: errno, advice: "use an absolute path")
        }
        defer { free(folder) }
        let path = String(cString: folder) + "/" + file
        guard path.utf8.count <= Self.maxIpcPathBytes else {
            throw ZeroMQError(
                .invalidEndpoint,
                """
                \(self) is ipc://\(path) for other processes, and a socket's path has at most \(Self.maxIpcPathBytes) \
                bytes (\(path.utf8.count) are too many): use a shorter path, or another working folder
                """
            )
        }
        return Endpoint(address: .ipc(path: path))
    }

    /// The text of the endpoint, with `*` for a port that the system chooses.
    package var description: String { text(host: \.description) }

    /// The text for libzmq.
    var wireText: String { text(host: \.wireText) }

    /// Whether it is `ipc://*`: a file that the bind chooses.
    var isWildcardFile: Bool { address == .ipc(path: Self.wildcard) }

    /// The file that a bind creates, if its name is known in advance.
    var socketFile: String? {
        guard case .ipc(let path) = address, !isWildcardFile, !path.hasPrefix(Self.abstractMark) else { return nil }
        return path
    }

    private static let wildcard = "*"
    private static let abstractMark = "@"

    private func text(host hostText: (Host) -> String) -> String {
        switch address {
        case .tcp(let host, let port): "tcp://\(hostText(host)):\(port == 0 ? Self.wildcard : String(port))"
        case .ipc(let path): "ipc://\(path)"
        case .inproc(let name): "inproc://\(name)"
        }
    }
}

extension Endpoint {
    /// The maximum size of an `ipc` path: the capacity of the system's `sun_path` without the final 0.
    package static let maxIpcPathBytes = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// The maximum size of an endpoint. A peer may name one of any size, and to step through some texts backwards, as
    /// to find the port, the standard library needs quadratic time.
    package static let maxBytes = 512

    /// Parses an endpoint.
    ///
    /// - Throws: `invalidEndpoint`, with the expected form, the actual text, and an example.
    package init(_ text: String) throws(ZeroMQError) {
        guard text.utf8.count <= Self.maxBytes else {
            throw ZeroMQError(
                .invalidEndpoint,
                "an endpoint has at most \(Self.maxBytes) bytes, got a text of \(text.utf8.count); an example is "
                    + "tcp://127.0.0.1:7001"
            )
        }
        let (scheme, rest) = Self.split(text)
        do throws(Mistake) {
            switch scheme {
            case "tcp": address = try Self.tcp(rest)
            case "ipc": address = try Self.ipc(rest)
            case "inproc": address = try Self.inproc(rest)
            default:
                throw Mistake(
                    expected: "tcp://host:port, ipc://path or inproc://name",
                    got: text,
                    example: "tcp://127.0.0.1:7001"
                )
            }
        } catch {
            throw ZeroMQError(
                .invalidEndpoint,
                """
                \(text.debugDescription) is no endpoint: expected \(error.expected), got \
                \(error.got.debugDescription); an example is \(error.example)
                """
            )
        }
    }

    private struct Mistake: Error {
        let expected: String
        let got: String
        let example: String
    }

    private static func split(_ text: String) -> (scheme: Substring, rest: Substring) {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return ("", "") }
        return (text[..<colon], text[colon...].dropFirst(3))
    }

    private static func tcp(_ rest: Substring) throws(Mistake) -> Address {
        let example = "tcp://127.0.0.1:7001"
        guard let colon = rest.lastIndex(of: ":"), !rest.hasSuffix("]") else {
            throw Mistake(expected: "a host, a colon and a port", got: String(rest), example: example)
        }
        let (hostText, portText) = (String(rest[..<colon]), rest[colon...].dropFirst())
        guard let host = Host(hostText) else {
            throw Mistake(
                expected: "a host: a name, an IPv4 address, an IPv6 address in brackets, or *",
                got: hostText,
                example: hostText.contains(":") ? "tcp://[::1]:7001" : example
            )
        }
        guard let port = port(portText) else {
            throw Mistake(expected: "a port from 0 to 65535, or *", got: String(portText), example: example)
        }
        return .tcp(host, port: port)
    }

    private static func port(_ text: Substring) -> UInt16? {
        if text == wildcard { return 0 }
        let isDecimal = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isDecimal ? UInt16(text) : nil
    }

    private static func ipc(_ rest: Substring) throws(Mistake) -> Address {
        let (path, example) = (String(rest), "ipc:///run/statecast/fleet.ipc")
        func mistake(_ expected: String) -> Mistake { Mistake(expected: expected, got: path, example: example) }

        guard !path.isEmpty, !path.utf8.contains(0) else { throw mistake("a path without a 0 byte") }
        guard path.utf8.count <= maxIpcPathBytes else {
            throw mistake("a path of at most \(maxIpcPathBytes) bytes (\(path.utf8.count) are too many)")
        }
        // libzmq treats any path that begins with a star as the wildcard.
        guard path == wildcard || !path.hasPrefix(wildcard) else { throw mistake("a path, or * alone") }
        if path.hasPrefix(abstractMark) {
            #if os(Linux) || os(Android)
                guard path != abstractMark else { throw mistake("a name after the @") }
            #else
                throw mistake("a path (abstract names, @..., exist on Linux only)")
            #endif
        }
        return .ipc(path: path)
    }

    private static func inproc(_ rest: Substring) throws(Mistake) -> Address {
        guard !rest.isEmpty, !rest.utf8.contains(0) else {
            throw Mistake(expected: "a name without a 0 byte", got: String(rest), example: "inproc://fleet")
        }
        return .inproc(name: String(rest))
    }
}
