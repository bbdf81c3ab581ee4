import Metrics
import StatecastProtocol

/// The metrics of a node that shares its journals with others. They have no dimensions: it leads all stores or none.
struct FailoverMetrics {
    private let leading = NodeMetric.primaryLeading.gauge()
    private let leaseLeft = NodeMetric.primaryLeaseSeconds.gauge()
    private let lag = NodeMetric.primaryStandbyLagRecords.gauge()

    /// - Parameter left: for how long the node may serve without another confirmed commit; zero if it does not lead.
    func observed(isLeading: Bool, leaseLeft left: Duration) {
        leading.record(isLeading ? 1 : 0)
        let (seconds, attoseconds) = left.components
        leaseLeft.record(Double(seconds) + Double(attoseconds) / 1e18)
    }

    /// A standby has read the leader's records.
    ///
    /// - Parameter count: the number that it has not copied.
    func followed(lag count: UInt64) { lag.record(Double(count)) }
}
