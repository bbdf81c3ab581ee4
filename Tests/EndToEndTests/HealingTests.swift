import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct HealingTests {
    @Test func `a replica whose queue overflowed detects the gap and catches up`() async throws {
        let endpoints = try AbsentPrimary()
        try await withServed(["--high-water-mark", "16"], app: "fleet", publish: endpoints.publish) { served in
            let arguments = served.upstream + ["--json", "--select", "totals", "--log-level", "debug"]
            let (_, ending) = try await Tool.replica.running(arguments) { replica in
                _ = try await replica.line { _ in true }
                replica.send(SIGSTOP)
                // Each sender leads to at least one update: in all more than the queue and the kernel's buffer hold for
                // a local connection whose reader is paused.
                for _ in 0..<50 {
                    let sent = try await Tool.send.run(served.upstream + ["--ndjson"], input: samples(200))
                    #expect(sent.exitCode == 0, "\(sent.errors)")
                }
                replica.send(SIGCONT)
                _ = try await replica.line { $0.contains(#""revision":10000,"#) }
            }
            #expect(ending.errors.components(separatedBy: "status=joining").count > 2, "nothing was missed")
        }
    }

    /// A sample of each host: some 25 KB of a patch for 200 of them.
    private func samples(_ count: Int) -> String {
        let sample = """
            {"load1":1.25,"load5":1.125,"load15":1,"cpuCount":4,"memoryTotalBytes":17179869184,\
            "memoryAvailableBytes":8589934592,"uptimeSeconds":86400.5,"cpuSeconds":7200.25,\
            "diskTotalBytes":274877906944,"diskFreeBytes":137438953472}
            """
        return (0..<count).map { number in
            #"{"action":"HostSampled","payload":{"host":"machine-\#(number)","sample":\#(sample)}}"# + "\n"
        }.joined()
    }

    @Test func `a replica logs that the primary went back or began a new history`() async throws {
        let folder = try Folder()
        let (journal, copy) = (["--journal", folder.path + "/journal"], ["--journal", folder.path + "/copy"])
        @Sendable func send(_ count: Int, to served: Served) async throws {
            let sent = try await Tool.send.run(served.upstream + ["--ndjson"], input: increases(count))
            #expect(sent.exitCode == 0, "\(sent.errors)")
        }
        let first = try await withServed(journal) { served in
            try await send(3, to: served)
            return served
        }
        try FileManager.default.copyItem(atPath: journal[1], toPath: copy[1])
        // Opened once more than the other: its next epoch is later, with fewer changes.
        try await withServed(copy, isNew: false) { _ in }
        let (_, ending) = try await Tool.replica.running(first.upstream + ["--json"]) { replica in
            @Sendable func line(_ epoch: UInt64, _ revision: UInt64) async throws -> String {
                let line = try await replica.line { line in
                    (try? ReplicaLine(line)).map { $0.epoch == epoch && $0.revision == revision } == true
                }
                return try ReplicaLine(line).lineage
            }
            let lineage = try await withServed(journal, publish: first.publish, actions: first.actions, isNew: false) {
                try await send(2, to: $0)
                return try await line(2, 5)
            }
            try await withServed(copy, publish: first.publish, actions: first.actions, isNew: false) { _ in
                let back = try await line(3, 3)
                #expect(back == lineage)
            }
            try await withServed(publish: first.publish, actions: first.actions) { _ in
                let new = try await line(1, 0)
                #expect(new != lineage)
            }
        }
        #expect(
            ending.errors.contains("lost changes and went back: revision 3 of epoch 3 follows revision 5 of epoch 2")
        )
        #expect(ending.errors.contains("began a new history: revision 0 of lineage "))
        #expect(ending.errors.contains(" follows revision 3 of lineage "))
    }

    @Test func `a replica and a sender that start before the primary wait for it`() async throws {
        let address = try AbsentPrimary()
        let sending = Task { try await Tool.send.run(address.upstream + ["--json", "CounterIncreaseRequested"]) }
        let showing = Task { try await Tool.replica.run(address.upstream + ["--json", "--until", "1"]) }
        try await withServed(publish: address.publish, actions: address.actions) { _ in
            let (sent, shown) = (try await sending.value, try await showing.value)
            #expect(sent.exitCode == 0)
            #expect(try ReplicaLine(try #require(shown.output.last)).state.counter == 1)
        }
    }

    @Test func `SIGTERM and SIGINT stop all executables gracefully`() async throws {
        for signal in [SIGTERM, SIGINT] {
            try await withServed(app: "fleet") { served in
                let (_, replica) = try await Tool.replica.running(served.upstream + ["--json"]) { replica in
                    _ = try await replica.line { _ in true }
                    replica.send(signal)
                }
                #expect(replica.exitCode == 0)
                let (_, agent) = try await Tool.agent.running(["--from", served.publish, "--interval", "0.05"]) {
                    agent in
                    _ = try await Tool.replica.run(served.upstream + ["--until", "1"])
                    agent.send(signal)
                }
                #expect(agent.exitCode == 0)
                served.tool.send(signal)
            }
        }
    }
}
