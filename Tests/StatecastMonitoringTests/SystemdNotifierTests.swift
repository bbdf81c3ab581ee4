import Foundation
import Statecast
import StatecastProtocol
import StatecastThreading
import Testing

@testable import StatecastMonitoring

/// What systemd receives, on a socket of its kind.
@Suite struct SystemdNotifierTests {
    private let manager: NotifySocket
    private let report = Locked(PrimaryPhase.created.report([]))
    private let answers = Locked<[@Sendable () -> Void]>([])

    init() throws { manager = try NotifySocket() }

    private func notifier(hasWatchdog: Bool = false) -> SystemdNotifier {
        let node = NodeHealth(report: { [report] in report.withLock(\.self) }) { [answers] answer in
            answers.withLock { $0.append(answer) }
        }
        return SystemdNotifier(manager.path, hasWatchdog: hasWatchdog, nodes: [node])
    }

    private func lines(_ notifier: SystemdNotifier, when new: NodeReport) -> [String] {
        report.withLock { $0 = new }
        notifier.notify()
        return manager.next()
    }

    @Test func `A recovery extends the start, and a standby is ready`() throws {
        let store = try StoreName("fleet")
        let notifier = notifier()
        let gauges = [NodeMetric.primaryRecoveredRecords: 40.0, .primaryRecoveryRecords: 100]
        let recovering = PrimaryPhase.recovering.report([StoreHealth(store: store, gauges: gauges)])
        #expect(
            lines(notifier, when: recovering)
                == ["STATUS=recovering, fleet: 40 of 100 records", "EXTEND_TIMEOUT_USEC=30000000"]
        )
        // Also without progress.
        #expect(lines(notifier, when: recovering) == ["EXTEND_TIMEOUT_USEC=30000000"])
        #expect(lines(notifier, when: PrimaryPhase.standby.report([])) == ["READY=1", "STATUS=standby"])
        #expect(lines(notifier, when: PrimaryPhase.serving.report([])) == ["STATUS=serving"])
        #expect(lines(notifier, when: PrimaryPhase.serving.report([])) == [])
        let full = PrimaryPhase.serving.report([StoreHealth(store: store, gauges: [.primaryStorageFull: 1])])
        #expect(lines(notifier, when: full) == ["STATUS=serving, no actions: storage-full"])
    }

    @Test func `What systemd did not take is sent again`() throws {
        let notifier = notifier()
        manager.unbind()
        report.withLock { $0 = PrimaryPhase.serving.report([]) }
        notifier.notify()
        try manager.bind()
        #expect(lines(notifier, when: PrimaryPhase.serving.report([])) == ["READY=1", "STATUS=serving"])
    }

    @Test func `The watchdog hears of a loop that answers`() {
        let notifier = notifier(hasWatchdog: true)
        let serving = PrimaryPhase.serving.report([])
        #expect(lines(notifier, when: serving).contains("WATCHDOG=1"))
        #expect(answers.withLock { $0.count } == 1, "the loop is asked")
        for answer in answers.withLock({ $0 }) { answer() }
        #expect(lines(notifier, when: serving) == ["WATCHDOG=1"])
        #expect(answers.withLock { $0.count } == 2)
    }

    @Test func `There is a notifier where systemd expects one, and a watchdog for this process only`() {
        func watchdog(_ variables: [String: String]) -> Bool? {
            SystemdNotifier(nodes: [], variables: variables)?.hasWatchdog
        }
        #expect(watchdog([:]) == nil)
        #expect(watchdog(["NOTIFY_SOCKET": manager.path]) == false)
        var variables = ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "60000000"]
        #expect(watchdog(variables) == true)
        variables["WATCHDOG_PID"] = "\(getpid())"
        #expect(watchdog(variables) == true)
        variables["WATCHDOG_PID"] = "\(getppid())"
        #expect(watchdog(variables) == false)
    }
}

/// The socket of a service manager.
private final class NotifySocket: Sendable {
    let path: String
    private let descriptor = Locked<Int32>(-1)

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "statecast-notify-\(UUID())").path()
        try bind()
    }

    deinit { unbind() }

    func bind() throws {
        #if canImport(Darwin)
            let kind = SOCK_DGRAM
        #else
            let kind = Int32(SOCK_DGRAM.rawValue)
        #endif
        let opened = socket(AF_UNIX, kind, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.bind(opened, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        descriptor.withLock { $0 = opened }
    }

    func unbind() {
        close(descriptor.withLock(\.self))
        unlink(path)
    }

    /// The lines of the message that waits; empty if none does.
    func next() -> [String] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor.withLock(\.self), &bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { return [] }
        return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
