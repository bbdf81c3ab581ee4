import CStatecastPlatform
import Dispatch
public import ServiceLifecycle
public import Statecast
import StatecastThreading

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Tells systemd the state of nodes, for a unit with `Type=notify`.
///
/// It sends `READY=1` when no node recovers its stores any more, also if one only stands by; a `STATUS` for
/// `systemctl status`; `EXTEND_TIMEOUT_USEC` during a recovery, so that a long one is not ended; `STOPPING=1`; and, for
/// a unit with `WatchdogSec=`, `WATCHDOG=1` as long as the loops of the nodes answer, as for `/livez`.
public final class SystemdNotifier: Service {
    /// What was sent successfully.
    private struct Progress {
        var isReady = false
        var status: String?
    }

    /// Of the start, from each message on.
    private static let extensionMicroseconds = 30_000_000

    private let socket: String
    let hasWatchdog: Bool
    private let nodes: [NodeHealth]
    private let liveness: Liveness
    private let progress = Locked(Progress())
    /// Not Swift's pool, which code of users may occupy.
    private let queue = DispatchQueue(label: "statecast.systemd")

    /// Creates a notifier; `nil` if systemd expects no messages of this process.
    ///
    /// - Parameter nodes: run beside it. List it after them in a `ServiceGroup`: it reports the stop before they stop.
    public convenience init?(nodes: [any MonitoredNode]) {
        self.init(nodes: nodes.map(\.health), variables: ProcessInfo.processInfo.environment)
    }

    convenience init?(nodes: [NodeHealth], variables: [String: String]) {
        guard let socket = variables["NOTIFY_SOCKET"] else { return nil }
        let watched = variables["WATCHDOG_PID"].map { $0 == "\(ProcessInfo.processInfo.processIdentifier)" } ?? true
        let hasWatchdog = variables["WATCHDOG_USEC"] != nil && watched
        self.init(socket, hasWatchdog: hasWatchdog, nodes: nodes)
    }

    init(_ socket: String, hasWatchdog: Bool, nodes: [NodeHealth]) {
        (self.socket, self.hasWatchdog, self.nodes) = (socket, hasWatchdog, nodes)
        liveness = Liveness(nodes)
    }

    /// Sends until the task is cancelled or the service group shuts down.
    public func run() async {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { self.notify() }
        timer.schedule(deadline: .now(), repeating: .seconds(1))
        timer.activate()
        try? await gracefulShutdown()
        timer.cancel()
        send(["STOPPING=1"])
    }

    /// Sends what is due now.
    func notify() {
        let reports = nodes.map { $0.report() }
        let isStarting = reports.contains(where: \.isStarting)
        let status = reports.map(\.status).joined(separator: "; ")
        let sent = progress.withLock(\.self)
        let isReady = sent.isReady || !isStarting
        var lines: [String] = []
        if isReady, !sent.isReady { lines.append("READY=1") }
        if status != sent.status { lines.append("STATUS=\(status)") }
        if isStarting { lines.append("EXTEND_TIMEOUT_USEC=\(Self.extensionMicroseconds)") }
        if hasWatchdog, liveness.silences().allSatisfy({ $0 < Liveness.limit }) { lines.append("WATCHDOG=1") }
        if hasWatchdog { liveness.ask() }
        if send(lines) { progress.withLock { $0 = Progress(isReady: isReady, status: status) } }
    }

    @discardableResult
    private func send(_ lines: [String]) -> Bool {
        lines.isEmpty || statecast_send_datagram(socket, lines.joined(separator: "\n"))
    }
}

extension NodeReport {
    /// A line for operators.
    fileprivate var status: String {
        guard role == .primary else { return "\(role) \(phase)" }
        let parts = stores.compactMap { store -> String? in
            guard let done = store.gauges[.primaryRecoveredRecords], let total = store.gauges[.primaryRecoveryRecords]
            else {
                return nil
            }
            return "\(store.store): \(Int(done)) of \(Int(total)) records"
        }
        let refusals = phase == PrimaryPhase.serving.rawValue ? reasonsForSenders.map { "no actions: \($0)" } : []
        return ([phase] + parts + refusals).joined(separator: ", ")
    }
}
