import SyncProtocol
import Testing

@Suite struct `statecast-simulate` {
    @Test func `prints what it ran`() async throws {
        let ending = try await Tool.simulate.run(["--seed", "1", "--seeds", "3", "--events", "500"])
        #expect(ending.exitCode == 0, "\(ending.errors)")
        #expect(ending.output.first?.hasPrefix("3 seeds in ") == true)
        #expect(ending.output.contains { $0.hasPrefix("faults: feedBreaks ") })
        #expect(ending.output.contains { $0.hasPrefix("coverage: ") })
    }

    @Test func `prints everything that happens with a seed`() async throws {
        let ending = try await Tool.simulate.run(["--seed", "1", "--events", "500", "--trace"])
        #expect(ending.exitCode == 0, "\(ending.errors)")
        #expect(ending.output.first?.contains("seed 1: ") == true)
        #expect(ending.output.contains { $0.contains("serves store0") })
    }

    @Test(arguments: [["--seeds", "0"], ["--jobs", "0"], ["--skip", "1,x"]])
    func `rejects invalid options`(arguments: [String]) async throws {
        let ending = try await Tool.simulate.run(arguments)
        #expect(ending.exitCode == 64)
        #expect(ending.errors.contains("Error: "))
    }

    #if DEBUG
        /// For each fault the first seed that finds it, from 1 on. One that ends the process is found, too.
        static let seeds: [PlantedFault: UInt64] = [:]

        /// Few seeds, so that the tests end soon.
        @Test(arguments: PlantedFault.allCases)
        func `finds each planted fault within a few seeds`(fault: PlantedFault) async throws {
            let first = try #require(Self.seeds[fault], "name a seed that finds \(fault)")
            let ending = try await Tool.simulate.run(
                ["--plant", fault.rawValue, "--seed", "\(first)", "--seeds", "3", "--jobs", "1", "--events", "4000"]
            )
            #expect(ending.exitCode != 0, "\(fault) stays hidden: \(ending.output.joined(separator: "\n"))")
            #expect(ending.exitCode != 64, "\(ending.errors)")
        }

        @Test func `names the command that repeats a failure with few faults`() async throws {
            let fault = PlantedFault.composesWithoutLastUpdate
            let first = try #require(Self.seeds[fault])
            let ending = try await Tool.simulate.run(
                ["--plant", fault.rawValue, "--seed", "\(first)", "--seeds", "3", "--events", "4000"]
            )
            let line = try #require(ending.errors.split(separator: "\n").first { $0.hasPrefix("repeat with: ") })
            let command = line.split(separator: " ").dropFirst(3).map(String.init)
            let again = try await Tool.simulate.run(command)
            #expect(again.exitCode == 1)
            #expect(again.errors.contains("shownWasPublished"))
            #expect(again.output.contains { $0.contains("VIOLATION of shownWasPublished") })
        }
    #else
        @Test func `plants no fault in release`() async throws {
            let ending = try await Tool.simulate.run(["--plant", "joinsBeforeFeed"])
            #expect(ending.exitCode == 64)
            #expect(ending.errors.contains("faults can be planted in debug builds only"))
        }
    #endif
}
