import Testing

@Suite(.timeLimit(.minutes(10))) struct `statecast-simulate` {
    @Test func `statecast-simulate prints what it ran`() async throws {
        let ending = try await Tool.simulate.run(["--seed", "1", "--seeds", "3", "--events", "500"])
        #expect(ending.exitCode == 0, "\(ending.errors)")
        #expect(ending.output.first?.hasPrefix("3 seeds from 1 on in ") == true)
        let faults = try #require(ending.output.first { $0.hasPrefix("faults with an effect: ") })
        #expect(faults.contains(/[a-z] [1-9]/))
        #expect(ending.output.contains { $0.contains(/kinds of faults with an effect in each seed: ([5-9]|[0-9]{2})/) })
        #expect(ending.output.contains { $0.contains(#/coverage: [0-9]{2,3} of /#) })
    }

    @Test func `statecast-simulate prints everything that happens with a seed`() async throws {
        let ending = try await Tool.simulate.run(["--seed", "1", "--events", "500", "--trace"])
        #expect(ending.exitCode == 0, "\(ending.errors)")
        #expect(ending.output.first?.contains("seed 1: ") == true)
        #expect(ending.output.contains { $0.contains("serves store0") })
    }

    @Test(
        arguments: [
            ["--seeds", "0"], ["--jobs", "0"], ["--skip", "1,x"], ["--minutes", "nan"], ["--minutes=-1"],
            ["--seeds", "2", "--minutes", "1"], ["--limits", "small"], ["--trace"],
            ["--trace", "--seed", "1", "--seeds", "2"],
            ["--seed", "\(UInt64.max)"], ["--seed", "\(UInt64.max - 2)", "--seeds", "3"],
        ]
    )
    func `statecast-simulate rejects invalid options`(arguments: [String]) async throws {
        let ending = try await Tool.simulate.run(arguments)
        #expect(ending.exitCode == 64)
        #expect(ending.errors.contains("Error: "))
    }

    @Test(arguments: ["standard", "tiny"])
    func `statecast-simulate runs clusters with the chosen limits`(limits: String) async throws {
        let ending = try await Tool.simulate.run(["--seed", "1", "--events", "300", "--trace", "--limits", limits])
        #expect(ending.exitCode == 0, "\(ending.errors)")
        // The limit of a session's window, from a watermark.
        let windows = limits == "tiny" ? "maxWindowActions: 8," : "maxWindowActions: 16384,"
        #expect(ending.output.contains { $0.contains(windows) })
    }
}
