import Metrics
import StatecastThreading
import StatecastZeroMQ

/// A gauge that the nodes of this process share: its value is the sum over them, like that of a counter.
struct SharedGauge: Hashable {
    let metric: NodeMetric
    /// The name of a socket's role.
    var socket: String?

    private static let values = Locked<[SharedGauge: Int]>([:])

    /// Safe on any thread. Zero reports the present value.
    func add(_ change: Int) {
        let gauge = metric.gauge(socket.map { [("socket", $0)] } ?? [])
        // With the lock, so that the last report has the last value.
        Self.values.withLock { values in
            values[self, default: 0] += change
            gauge.record(values[self, default: 0])
        }
    }
}

extension Socket {
    /// Reports the connections of a primary's socket to the metrics, until the socket is closed. Call it before the
    /// socket is bound.
    ///
    /// - Throws: as `reportConnections(to:)`.
    func measureConnections(of role: AccessControl.SocketRole) throws(ZeroMQError) {
        let gauge = SharedGauge(metric: .primaryConnections, socket: role.name)
        let counter = NodeMetric.primaryConnectionsAccepted.counter([("socket", role.name)])
        gauge.add(0)
        try reportConnections { accepted, ended in
            counter.increment(by: accepted)
            gauge.add(accepted - ended)
        }
    }
}
