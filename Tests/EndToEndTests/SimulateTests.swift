import SyncProtocol
import Testing

@Suite struct `statecast-simulate` {
    @Test func `prints what it ran`() async throws {
        let ending = try await Tool.simulate.run(["--seed", "1", "--seeds", "3", "--events", "500"])
        #expect(ending.exitCode == 0, "\(ending.errors)")
        #expect(ending.output.first?.hasPrefix("3 seeds from 1 on in ") == true)
        #expect(ending.output.contains { $0.hasPrefix("faults: feedBreaks ") })
        #expect(ending.output.contains { $0.hasPrefix("coverage: ") })
    }

    @Test func `prints everything that happens with a seed`() async throws {
        let ending = try await Tool.simulate.run(["--seed", "1", "--events", "500", "--trace"])
        #expect(ending.exitCode == 0, "\(ending.errors)")
        #expect(ending.output.first?.contains("seed 1: ") == true)
        #expect(ending.output.contains { $0.contains("serves store0") })
    }

    @Test(
        arguments: [
            ["--seeds", "0"], ["--jobs", "0"], ["--skip", "1,x"], ["--minutes", "nan"], ["--minutes=-1"],
            ["--seeds", "2", "--minutes", "1"], ["--trace"], ["--trace", "--seed", "1", "--seeds", "2"],
            ["--seed", "\(UInt64.max)"], ["--seed", "\(UInt64.max - 2)", "--seeds", "3"],
        ]
    )
    func `rejects invalid options`(arguments: [String]) async throws {
        let ending = try await Tool.simulate.run(arguments)
        #expect(ending.exitCode == 64)
        #expect(ending.errors.contains("Error: "))
    }

    #if DEBUG
        /// For each fault the first seed that found it, from 1 on. A change of the protocol, the engine or the
        /// simulation changes what happens with a seed: later ones are run then, up to a bound. A fault that ends the
        /// process is found, too.
        static let seeds: [PlantedFault: UInt64] = [
            .publishesBeforeDurable: 3,
            .storesSnapshotWithoutSessions: 7,
            .storesSnapshotUnderOtherRevision: 3,
            .sendsUndurableWatermark: 8,
            .trustsLostPositions: 135,
            .welcomesWithWrongHead: 2,
            .composesWithoutLastUpdate: 1,
            .answersNoKnownActions: 7,
            .startsEffectsOfRolledBackBatches: 10,
            .keepsNumberOfOneSession: 10,
            .admitsNoRestOfFrame: 13,
            .trimsUndurableOutcomes: 29,
            .evictsActiveSessions: 7,
            .admitsEvictedSessions: 1,
            .leavesMarkOfReducedAction: 76,
            .cutsRunsWithoutRevision: 5,
            .reusesEpoch: 3,
            .joinsBeforeFeed: 1,
            .appliesUpdatesWithGap: 1,
            .followsLowerEpoch: 73,
            .buffersWithoutBound: 1,
            .reportsTransientRefusal: 7,
            .followsForeignRefusals: 27,
            .resolvesOneMore: 1,
            .sendsBeforeSaved: 1,
            .reportsUnsavedDecisions: 1_006_769,
            .dropsUnreportedOutcomes: 5_000_000,
            .missesLostOutcomes: 9,
            .resendsInOtherLineage: 1,
        ]

        @Test func `each planted fault of the simulated code has a seed that finds it`() {
            // Found by the seeded faults of the real journal.
            let ofFiles: Set<PlantedFault> = [.acknowledgesAfterReceipts]
            #expect(Set(Self.seeds.keys).union(ofFiles) == Set(PlantedFault.allCases))
        }

        @Test(arguments: seeds.sorted { $0.key.rawValue < $1.key.rawValue })
        func `finds planted faults`(fault: PlantedFault, seed: UInt64) async throws {
            let ending = try await Tool.simulate.run(
                [
                    "--plant", fault.rawValue, "--seed", "\(seed)", "--seeds", "300", "--jobs", "1", "--events", "4000",
                    "--tries", "0",
                ]
            )
            #expect(ending.exitCode != 0, "\(fault) stays hidden: \(ending.output.joined(separator: "\n"))")
            #expect(ending.errors.contains(/seed [0-9]+: |ended by seed [0-9]+/), "\(ending.errors)")
        }

        @Test func `names the seed that ends the process`() async throws {
            let seed = try #require(Self.seeds[.evictsActiveSessions])
            let ending = try await Tool.simulate.run(
                ["--plant", "evictsActiveSessions", "--seed", "\(seed)", "--seeds", "300", "--events", "4000"]
            )
            #expect(ending.errors.contains("the process was ended by seed "), "\(ending.errors)")
        }

        @Test func `names the command that repeats a failure with few faults`() async throws {
            let fault = PlantedFault.composesWithoutLastUpdate
            let first = try #require(Self.seeds[fault])
            let ending = try await Tool.simulate.run(
                ["--plant", fault.rawValue, "--seed", "\(first)", "--seeds", "300", "--events", "4000"]
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
