/// Where a socket binds or connects: `tcp://host:port`, `ipc://path` or `inproc://name`, checked.
///
/// ```swift
/// let endpoint = try Endpoint("tcp://127.0.0.1:*")
/// let actual = try socket.bind(endpoint)  // tcp://127.0.0.1:49731
/// ```
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    enum Address: Hashable, Sendable {
        /// Port 0 is chosen at the bind.
        case tcp(Host, port: UInt16)
        case ipc(path: String)
        case inproc(name: String)
    }

    /// How messages travel.
    package enum Transport: String, Hashable, Sendable {
        case tcp, ipc, inproc
    }

    let address: Address

    /// How messages travel.
    package var transport: Transport {
        switch address {
        case .tcp: .tcp
        case .ipc: .ipc
        case .inproc: .inproc
        }
    }

    /// The host, if this is a `tcp` endpoint.
    package var host: Host? {
        if case .tcp(let host, _) = address { host } else { nil }
    }

    /// The port, if this is a `tcp` endpoint; 0 if the system is to choose one at the bind.
    package var port: UInt16? {
        if case .tcp(_, let port) = address { port } else { nil }
    }

    /// Whether it cannot be reached from another machine: loopback, `ipc` and `inproc`.
    package var isLocal: Bool { host?.isLoopback ?? true }

    /// Whether its host stands for every interface: `*`, `0.0.0.0` or `[::]`.
    package var isWildcardHost: Bool { host?.isWildcard ?? false }

    /// Whether there is something to connect to: neither host, port nor path is left open.
    package var isConnectable: Bool {
        switch address {
        case .tcp(let host, let port): !host.isWildcard && port != 0
        case .ipc(let path): path != Self.wildcard
        case .inproc: true
        }
    }

    /// The same port at another host; an endpoint that has no host stays what it is.
    ///
    /// For a server that advertises `tcp://*:7002`: its client takes the host at which it reached the server.
    package func replacingHost(with host: Host) -> Endpoint {
        if case .tcp(_, let port) = address { Endpoint(address: .tcp(host, port: port)) } else { self }
    }

    /// As it is written, a port that is chosen at the bind as `*`.
    package var description: String { text(host: \.description) }

    /// As libzmq is told.
    var wireText: String { text(host: \.wireText) }

    /// Whether it is `ipc://*`: a file of the bind's choice.
    var isWildcardFile: Bool { address == .ipc(path: Self.wildcard) }

    /// The file that a bind makes, if it makes one whose name is known before.
    var socketFile: String? {
        guard case .ipc(let path) = address, !isWildcardFile, !path.hasPrefix(Self.abstractMark) else { return nil }
        return path
    }

    static let wildcard = "*"
    static let abstractMark = "@"

    private func text(host hostText: (Host) -> String) -> String {
        switch address {
        case .tcp(let host, let port): "tcp://\(hostText(host)):\(port == 0 ? Self.wildcard : String(port))"
        case .ipc(let path): "ipc://\(path)"
        case .inproc(let name): "inproc://\(name)"
        }
    }
}
