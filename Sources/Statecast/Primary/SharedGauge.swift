internal import Logging
internal import Metrics
internal import Threading
internal import ZeroMQ

/// A gauge that the nodes of this process share: its value is the sum over them, like that of a counter.
struct SharedGauge: Hashable {
    let label: String
    /// The name of a socket's role.
    var socket: String?

    private static let values = Locked<[SharedGauge: Int]>([:])

    /// Safe on any thread. Zero reports the present value.
    func add(_ change: Int) {
        let gauge = Gauge(label: label, dimensions: socket.map { [("socket", $0)] } ?? [])
        // With the lock, so that the last report has the last value.
        Self.values.withLock { values in
            values[self, default: 0] += change
            gauge.record(values[self, default: 0])
        }
    }
}

extension Socket {
    /// Reports the connections of a primary's socket to the metrics, and to the log that their limit begins to apply,
    /// until the socket is closed. Call it before the socket is bound.
    ///
    /// - Returns: the monitor of the connections.
    /// - Throws: as `reportConnections(to:)`.
    func measureConnections(
        of role: AccessControl.SocketRole,
        guardedBy floodGuard: FloodGuard?,
        _ logger: Logger
    ) throws(ZeroMQError) -> ConnectionMonitor {
        let gauge = SharedGauge(label: "statecast_primary_connections", socket: role.name)
        let counter = Counter(
            label: "statecast_primary_connections_accepted_total",
            dimensions: [("socket", role.name)]
        )
        gauge.add(0)
        let limits = Counter(label: "statecast_primary_connections_limited_total", dimensions: [("socket", role.name)])
        let limited = Locked(0)
        return try reportConnections(guardedBy: floodGuard) { accepted, ended, isLimited in
            counter.increment(by: accepted)
            gauge.add(accepted - ended)
            guard isLimited else { return }
            limits.increment()
            let count = limited.withLock { count in
                count += 1
                return count
            }
            // The first time, and then each time that the number has doubled.
            guard count & (count - 1) == 0 else { return }
            // Elsewhere: all handshakes of the process wait for the caller.
            BlockingWork.startInBackground {
                logger.warning(
                    "the system drops requests for connections: too many are open, or new",
                    metadata: ["socket": "\(role.name)", "times": "\(count)"]
                )
            }
        }
    }
}
