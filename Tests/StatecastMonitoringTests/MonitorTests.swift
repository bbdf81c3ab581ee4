import Foundation
import Statecast
import StatecastCoding
import StatecastJSON
import StatecastProtocol
import StatecastThreading
import Testing

@testable import StatecastMonitoring

/// Without a network.
@Suite struct MonitorPagesTests {
    private let store: StoreName
    private let position = Position(lineage: Lineage(bits: 7), epoch: Epoch(2), revision: Revision(9))

    init() throws { store = try StoreName("counter") }

    private func pages(_ reports: NodeReport...) -> MonitorPages {
        MonitorPages(nodes: reports.map { report in NodeHealth(report: { report }, wake: { $0() }) })
    }

    private func primary(_ phase: PrimaryPhase, isFull: Bool = false) -> NodeReport {
        let gauges = [NodeMetric.primarySessions: 3, .primaryStorageFull: isFull ? 1 : 0, .journalSizeBytes: 2.5]
        return phase.report([StoreHealth(store: store, position: position, gauges: gauges)], [.primaryLeaseSeconds: 1])
    }

    @Test(arguments: [PrimaryPhase.created, .recovering, .standby, .unconfirmed, .stopping])
    func `A primary is not ready before it serves, and names the reason`(phase: PrimaryPhase) {
        let page = pages(primary(phase)).ready(replicas: true, senders: false)
        #expect(!page.isGood)
        #expect(page.content["replicas"]?["reasons"] == .array([.text(phase.rawValue)]))
        #expect(page.content["senders"]?["reasons"] == .array([.text(phase.rawValue)]))
    }

    @Test func `A full journal concerns senders only`() {
        let pages = pages(primary(.serving, isFull: true))
        #expect(pages.ready(replicas: true, senders: false).isGood)
        #expect(!pages.ready(replicas: false, senders: true).isGood)
        #expect(!pages.ready(replicas: true, senders: true).isGood)
        #expect(pages.ready(replicas: true, senders: true).content["senders"]?["reasons"] == ["storage-full"])
        #expect(MonitorPages(nodes: []).ready(replicas: true, senders: true).isGood)
    }

    @Test func `A start is over when all nodes stand by or serve`() {
        #expect(!pages(primary(.serving), primary(.recovering)).started.isGood)
        #expect(pages(primary(.serving), primary(.standby)).started.isGood)
    }

    @Test func `A recovery shows its progress`() {
        let gauges = [NodeMetric.primaryRecoveredRecords: 40.0, .primaryRecoveryRecords: 100]
        let page = pages(PrimaryPhase.recovering.report([StoreHealth(store: store, gauges: gauges)])).started
        #expect(page.content["nodes"]?[0]?["phase"] == "recovering")
        #expect(
            page.content["nodes"]?[0]?["stores"]?[0]
                == ["store": "counter", "recoveredRecords": Value(40), "recoveryRecords": Value(100)]
        )
    }

    @Test func `A loop is live until it has not answered for ten seconds`() throws {
        let answers = Locked<[@Sendable () -> Void]>([])
        let silent = NodeHealth(report: { [report = primary(.serving)] in report }) { answer in
            answers.withLock { $0.append(answer) }
        }
        let (liveness, pages) = (Liveness([silent]), MonitorPages(nodes: [silent]))
        let start = ContinuousClock.now
        liveness.ask(at: start)
        #expect(pages.live(liveness.silences(at: start + .milliseconds(9999))).isGood)
        // A second request does not ask again, and does not begin the time anew.
        liveness.ask(at: start + .seconds(5))
        #expect(answers.withLock { $0.count } == 1)
        let page = pages.live(liveness.silences(at: start + .seconds(12)))
        #expect(!page.isGood)
        #expect(page.content["reasons"] == ["the loop of the primary has not answered for 12 s"])
        for answer in answers.withLock({ $0 }) { answer() }
        #expect(pages.live(liveness.silences(at: start + .seconds(13))).isGood)
        liveness.ask(at: start + .seconds(14))
        #expect(answers.withLock { $0.count } == 2)
    }

    @Test func `The status has what is known, under the names of a ping`() {
        let replica = NodeReport(role: .replica, phase: "stale", stores: [StoreHealth(store: store)])
        let status = pages(primary(.serving), replica).status
        #expect(status["nodes"]?[0]?["role"] == "primary")
        let known = status["nodes"]?[0]?["stores"]?[0]
        #expect(known?["epoch"] == Value(2))
        #expect(known?["revision"] == Value(9))
        #expect(known?["sessions"] == Value(3))
        #expect(known?["storageFull"] == false)
        #expect(known?["journalSizeBytes"] == .float(2.5))
        #expect(status["nodes"]?[0]?["leaseSeconds"] == Value(1))
        #expect(status["nodes"]?[1]?["stores"]?[0] == ["store": "counter"])
    }

    @Test(arguments: ["7180", ":7180", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000"])
    func `An address is a host and a port`(address: String) {
        let failure = #expect(throws: StatecastError.self) {
            try MonitorService(at: address, metrics: PrometheusMetrics(), nodes: [])
        }
        #expect(failure?.code == .definition)
    }

    @Test func `Beyond this machine it has to be permitted`() throws {
        let remote = [
            "0.0.0.0:1", "10.0.0.1:1", "[::]:1", "host.example:1", "127.0.0.1.evil.example:1", "127.0.0.+1:1",
        ]
        for address in remote {
            let failure = #expect(throws: StatecastError.self) {
                try MonitorService(at: address, metrics: PrometheusMetrics(), nodes: [])
            }
            #expect(failure?.code == .insecure)
            _ = try MonitorService(
                at: address,
                metrics: PrometheusMetrics(),
                nodes: [],
                plaintext: .trustedNetwork
            )
        }
        for address in ["127.0.0.1:0", "localhost:0", "[::1]:0", "127.8.7.6:0"] {
            _ = try MonitorService(at: address, metrics: PrometheusMetrics(), nodes: [])
        }
    }
}
