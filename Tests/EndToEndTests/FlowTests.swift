import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowTests {
    @Test func `a late joiner gets the state at once`() async throws {
        try await withServed { served in
            let sent = try await Tool.send.run(served.upstream + ["StepChangeRequested", #"{"step":7}"#])
            #expect(sent.exitCode == 0, "\(sent.errors)")
            let late = try await Tool.replica.run(served.upstream + ["--once", "--json"])
            let lines = [#"{"lineage":"...","epoch":1,"revision":1,"state":{"step":7,"counter":0}}"#]
            #expect(late.output.elementsEqual(lines, by: matches))
            let selected = try await Tool.replica.run(served.upstream + ["--once", "--json", "--select", "step"])
            let parts = [#"{"lineage":"...","epoch":1,"revision":1,"state":7}"#]
            #expect(selected.output.elementsEqual(parts, by: matches))
            let wrong = try await Tool.replica.run(served.upstream + ["--once", "--select", "/a~2"])
            #expect(wrong.exitCode == 64)
            #expect(wrong.errors.contains("expected a JSON Pointer such as"), "\(wrong.errors)")
        }
    }

    @Test func `a key with dots is selected with a JSON Pointer`() async throws {
        try await withServed(app: "fleet") { served in
            let sample = """
                {"load1":1.25,"load5":1,"load15":1,"cpuCount":4,"memoryTotalBytes":2,"memoryAvailableBytes":1,\
                "uptimeSeconds":1,"cpuSeconds":1,"diskTotalBytes":2,"diskFreeBytes":1}
                """
            let payload = #"{"host":"web-1.example.com","sample":\#(sample)}"#
            let sent = try await Tool.send.run(served.upstream + ["HostSampled", payload])
            #expect(sent.exitCode == 0, "\(sent)")
            let load = "/hosts/web-1.example.com/latest/load1"
            let shown = try await Tool.replica.run(served.upstream + ["--once", "--select", load])
            #expect(shown.output.first?.hasSuffix(#""state":1.25}"#) == true, "\(shown)")
            let dotted = String(load.dropFirst()).replacing("/", with: ".")
            let absent = try await Tool.replica.run(served.upstream + ["--once", "--select", dotted])
            #expect(absent.exitCode == 66, "\(absent)")
            #expect(absent.errors.contains("did you mean /hosts/web-1.example.com?"), "\(absent.errors)")
        }
    }

    @Test func `an agent's samples reach a board`() async throws {
        try await withServed(app: "fleet") { served in
            _ = try await Tool.agent.running(["--from", served.publish, "--interval", "0.05"]) { _ in
                let ending = try await Tool.replica.run(served.upstream + ["--json", "--until", "3"])
                #expect(ending.exitCode == 0, "\(ending.errors)")
                #expect(ending.output.last?.contains(#""load1":"#) == true)
            }
        }
    }

    @Test func `a store lists its actions with valid examples`() async throws {
        try await withServed { served in
            let list = try await Tool.send.run(served.upstream + ["--list"])
            #expect(list.exitCode == 0)
            #expect(list.output.count == 3)
            for name in ["CounterIncreaseRequested", "CounterDecreaseRequested", "StepChangeRequested"] {
                let line = try #require(list.output.first { $0.contains(name) })
                let example = try #require(line.firstIndex(of: "{")).self
                let sent = try await Tool.send.run(served.upstream + [name, String(line[example...])])
                #expect(sent.exitCode == 0, "\(sent)")
            }
        }
    }
}

/// Absent parts of a state.
@Suite(.timeLimit(.minutes(10))) struct SelectTests {
    @Test func `a path that leads nowhere exits with 66 and the nearest name`() async throws {
        try await withServed { served in
            for goal in [["--once"], ["--until", "0"]] {
                let arguments = served.upstream + ["--json", "--select", "coutner"] + goal
                let ending = try await Tool.replica.run(arguments)
                #expect(ending.exitCode == 66, "\(ending)")
                #expect(ending.output.isEmpty)
                #expect(
                    ending.errors.contains(
                        "revision 0 has nothing at /coutner: the state has no coutner; did you mean /counter?"
                    ),
                    "\(ending.errors)"
                )
            }
        }
    }

    @Test func `a replica that follows prints null for an absent part, with one notice`() async throws {
        try await withServed { served in
            let arguments = served.upstream + ["--json", "--select", "counter.more"]
            let (_, ending) = try await Tool.replica.running(arguments) { replica in
                let line = try await replica.line { _ in true }
                #expect(line.contains(#""revision":0,"state":null}"#), "\(line)")
            }
            #expect(ending.exitCode == 0)
            let notices = ending.errors.split(separator: "\n").filter { $0.contains("counter has no parts") }
            #expect(notices.count == 1, "\(ending.errors)")
        }
    }
}
