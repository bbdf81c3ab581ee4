import Testing

/// Parts of a state that are not there.
@Suite(.timeLimit(.minutes(10))) struct SelectTests {
    @Test func `a path that leads nowhere ends with 66, and the name that is near`() async throws {
        try await withServed { served in
            for goal in [["--once"], ["--until", "0"]] {
                let arguments = served.upstream + ["--json", "--select", "coutner"] + goal
                let ending = try await Tool.replica.run(arguments)
                #expect(ending.exitCode == 66, "\(ending)")
                #expect(ending.output.isEmpty)
                #expect(
                    ending.errors.contains(
                        "revision 0 has nothing at coutner: the state has no coutner; did you mean counter?"
                    ),
                    "\(ending.errors)"
                )
            }
        }
    }

    @Test func `while it follows it shows null, and says so once`() async throws {
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
