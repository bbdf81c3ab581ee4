import Foundation
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What executables show with --monitor.
@Suite(.timeLimit(.minutes(10))) struct MonitorTests {
    /// A tool with a monitor on a free port, and its standard error among its lines.
    private func monitored<T: Sendable>(
        _ tool: Tool,
        _ arguments: [String],
        _ body: @Sendable (RunningTool, UInt16, _ ready: String) async throws -> T
    ) async throws -> (value: T, ending: Tool.Ending) {
        let script = ["-c", #"exec "$0" "$@" 2>&1"#, tool.location] + arguments + ["--monitor", "127.0.0.1:0"]
        return try await Tool(name: "/bin/sh").running(script) { running in
            // In any order.
            var (monitor, ready): (String?, String?)
            _ = try await running.line { line in
                if line.contains("monitoring (address=http://127.0.0.1:") { monitor = line }
                if line.hasPrefix("ready ") { ready = line }
                return monitor != nil && (ready != nil || tool.name != Tool.primary.name)
            }
            let port = try #require(monitor?.split(separator: ":").last?.dropLast()).description
            return try await body(running, try #require(UInt16(port)), ready ?? "")
        }
    }

    /// The code and the body of a page.
    private func get(_ path: String, _ port: UInt16, host: String = "localhost") throws -> (code: Int, body: String) {
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(client) }
        // The time limit of the test cannot end a call that blocks.
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
        let request = "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"
        try #require(send(client, request, request.utf8.count, 0) == request.utf8.count)
        var answer: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65536)
        while case let count = recv(client, &part, part.count, 0), count > 0 { answer += part[..<count] }
        let text = String(decoding: answer, as: UTF8.self)
        let end = try #require(text.firstRange(of: "\r\n\r\n"))
        return (try #require(Int(text.split(separator: " ")[1])), String(text[end.upperBound...]))
    }

    /// Asks until a page has a code.
    private func await(_ path: String, _ port: UInt16, code: Int) async throws -> String {
        while true {
            let page = try get(path, port)
            if page.code == code { return page.body }
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test func `A primary, a replica and an agent show their health and their metrics`() async throws {
        let any = ["--publish", "tcp://127.0.0.1:*", "--actions", "tcp://127.0.0.1:*", "--journal", "memory"]
        let (_, ending) = try await monitored(.primary, any) { primary, port, ready in
            let publish = try #require(ready.firstMatch(of: /publish=(\S+)/)).1.description
            for page in ["/livez", "/startupz", "/readyz", "/readyz/replicas", "/readyz/senders"] {
                _ = try await self.await(page, port, code: 200)
            }
            #expect(try get("/livez", port, host: "evil.example").code == 421)
            #expect(try get("/nothing", port).code == 404)
            _ = try await monitored(.agent, ["--from", publish, "--interval", "50ms"]) { agent, agentPort, _ in
                _ = try await monitored(.replica, ["--from", publish, "--json"]) { replica, replicaPort, _ in
                    // It may skip revisions.
                    _ = try await replica.line { $0.contains(/"revision":[1-9]/) }
                    _ = try await self.await("/readyz", replicaPort, code: 200)
                    _ = try await self.await("/readyz", agentPort, code: 200)
                    let metrics = try get("/metrics", replicaPort).body
                    #expect(metrics.contains("# TYPE statecast_replica_updates_total counter\n"))
                    #expect(metrics.contains(#"statecast_replica_joins_total{store="fleet"} "#))
                    #expect(try get("/metrics", agentPort).body.contains("statecast_sender_actions_applied_total"))
                    #expect(try get("/metrics", port).body.contains(#"statecast_primary_epoch{store="fleet"} 1"#))
                    #expect(try get("/statusz", replicaPort).body.contains(#""role":"replica""#))
                    // The primary is gone: replica and agent live on, and are not ready.
                    primary.send(SIGTERM)
                    #expect(try await self.await("/readyz/senders", agentPort, code: 503).contains(#""ready":false"#))
                    #expect(try get("/livez", replicaPort).code == 200)
                    replica.send(SIGTERM)
                    for await _ in replica.lines {}
                }
                agent.send(SIGTERM)
                for await _ in agent.lines {}
            }
        }
        #expect(ending.exitCode == 0, "\(ending)")
    }

    @Test func `The status has the names of a ping, and knows the journal and its backup`() async throws {
        let folder = try Folder()
        let journal = folder.path + "/journal"
        let any = ["--publish", "tcp://127.0.0.1:*", "--actions", "tcp://127.0.0.1:*", "--journal", journal]
        _ = try await monitored(.primary, any) { primary, port, ready in
            func store() async throws -> [String: Any] {
                let status = try await self.await("/statusz", port, code: 200)
                let page = try JSONSerialization.jsonObject(with: Data(status.utf8)) as? [String: Any]
                let node = (page?["nodes"] as? [[String: Any]])?.first
                return (node?["stores"] as? [[String: Any]])?.first ?? [:]
            }
            _ = try await self.await("/readyz", port, code: 200)
            let publish = try #require(ready.firstMatch(of: /publish=(\S+)/)).1.description
            let ping = try await Tool.send.run(["--from", publish, "--ping", "--json"])
            let answer = try JSONSerialization.jsonObject(with: Data(ping.output.joined().utf8)) as? [String: Any]
            for (name, value) in try #require(answer) where name != "roundTripMicroseconds" {
                #expect(try await "\(store()[name] ?? "")" == "\(value)", "\(name)")
            }
            while try await store()["journalSizeBytes"] as? Int ?? 0 < 4096 { await Task.yield() }
            #expect(try await store()["journalOldestRevision"] as? Int == 0)
            #expect(try await store()["journalLastBackupTimestampSeconds"] == nil)
            let copy = try await Tool.journal.run(["backup", journal, folder.path + "/backup"])
            #expect(copy.exitCode == 0, "\(copy)")
            while try await store()["journalLastBackupTimestampSeconds"] == nil { await Task.yield() }
            primary.send(SIGTERM)
            for await _ in primary.lines {}
        }
    }

    @Test func `A command that ends leaves its metrics in the file`() async throws {
        try await withServed { served in
            let folder = try Folder()
            let file = folder.path + "/send.prom"
            let sent = try await Tool.send.run(served.upstream + ["--metrics-file", file, "CounterIncreaseRequested"])
            #expect(sent.exitCode == 0, "\(sent)")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains(#"statecast_sender_actions_applied_total{store="counter"} 1"#))
            #expect(text.contains(#"statecast_sender_outbox_actions{store="counter"} 0"#))
            #expect(text.contains(#"statecast_sender_open{store="counter"} 0"#))
            #expect(!text.contains("process_") && !text.contains("build_info"))
        }
    }

    @Test func `With --log-format json each line of the log is an object, also the last one of a failure`() async throws
    {
        let ending = try await Tool.primary.run([
            "--log-format", "json", "--publish", "tcp://10.0.0.1:1", "--journal", "memory",
        ])
        #expect(ending.exitCode == 64, "\(ending)")
        let lines = ending.errors.split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            #expect(object?["message"] is String, "\(line)")
            #expect(object?["level"] is String, "\(line)")
        }
        #expect(lines.last?.contains(#""level":"critical""#) == true, "\(ending)")
    }

    @Test func `An address that cannot be used ends the executable with a message`() async throws {
        let any = ["--publish", "tcp://127.0.0.1:*", "--actions", "tcp://127.0.0.1:*", "--journal", "memory"]
        for (address, text) in [("7180", "expected HOST:PORT"), ("0.0.0.0:0", "--insecure-http")] {
            let ending = try await Tool.primary.run(any + ["--monitor", address])
            #expect(ending.exitCode == 64, "\(ending)")
            #expect(ending.errors.contains(text), "\(ending)")
        }
        _ = try await monitored(.primary, any) { primary, port, _ in
            let ending = try await Tool.primary.run(any + ["--monitor", "127.0.0.1:\(port)"])
            #expect(ending.exitCode == 1, "\(ending)")
            #expect(ending.errors.contains("the monitor cannot listen at 127.0.0.1:\(port)"), "\(ending)")
            primary.send(SIGTERM)
            for await _ in primary.lines {}
        }
    }
}
