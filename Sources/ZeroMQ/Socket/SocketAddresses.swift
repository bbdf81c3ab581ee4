internal import CZeroMQ

extension Socket {
    /// Makes the socket reachable at `endpoint`.
    ///
    /// The file of an `ipc` endpoint is taken only if nobody lives there: libzmq itself would take it away from a
    /// process that serves it. What a dead process left behind is no obstacle.
    ///
    /// A `tcp` endpoint is free again only a moment after the socket that had it was closed, since libzmq closes in the
    /// background.
    ///
    /// - Returns: the endpoint as it came to be, with the port or file that the system chose.
    /// - Throws: `addressInUse`, `addressNotAvailable`, `permission`, `invalidEndpoint`, `terminated`.
    package func bind(_ endpoint: Endpoint) throws(ZeroMQError) -> Endpoint {
        let folder: SocketFolder? = if endpoint.isWildcardFile { try SocketFolder() } else { nil }
        let endpoint = if let folder { try Endpoint("ipc://\(folder.path)/socket") } else { endpoint }
        let claim: SocketFileClaim? =
            if let path = endpoint.socketFile { try SocketFileClaim(path, for: endpoint, in: folder) } else { nil }
        try prepare(for: endpoint)
        guard zmq_bind(handle.pointer, endpoint.wireText) == 0 else {
            let number = zmq_errno()
            throw .failed("cannot bind to \(endpoint)", errno: number, advice: Self.bindAdvice(for: endpoint, number))
        }
        if let claim {
            claim.recordFile()
            handle.keep(claim)
        }
        return endpoint.isConnectable ? endpoint : try handle.lastEndpoint()
    }

    /// Keeps a connection to `endpoint`, now or whenever somebody is there.
    ///
    /// - Throws: `invalidEndpoint` if it leaves host, port or path open; `terminated`.
    package func connect(_ endpoint: Endpoint) throws(ZeroMQError) {
        guard endpoint.isConnectable else {
            throw ZeroMQError(
                .invalidEndpoint,
                """
                cannot connect to \(endpoint): expected a host and a port (or a path) where somebody is bound, got a \
                wildcard; an example is tcp://127.0.0.1:7001
                """
            )
        }
        try prepare(for: endpoint)
        guard zmq_connect(handle.pointer, endpoint.wireText) == 0 else {
            throw .failed("cannot connect to \(endpoint)", errno: zmq_errno())
        }
    }

    private static func bindAdvice(for endpoint: Endpoint, _ number: Int32) -> String? {
        switch ZeroMQError.Code(errno: number) {
        case .addressInUse: "another process or socket is bound there: stop it, or choose another endpoint"
        case .addressNotAvailable where endpoint.transport == .tcp:
            "the host must be an address or a network interface of this machine, or *"
        case .permission where endpoint.transport == .tcp: "ports below 1024 need privileges: choose a higher one"
        default: nil
        }
    }
}
