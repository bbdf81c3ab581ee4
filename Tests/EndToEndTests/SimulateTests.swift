import SyncProtocol
import Testing

@Suite(.timeLimit(.minutes(10))) struct `statecast-simulate` {
    @Test func `prints what it ran`() async throws {
        let ending = try await Tool.simulate.run(["--seed", "1", "--seeds", "3", "--events", "500"])
        #expect(ending.exitCode == 0, "\(ending.errors)")
        #expect(ending.output.first?.hasPrefix("3 seeds from 1 on in ") == true)
        let faults = try #require(ending.output.first { $0.hasPrefix("faults with an effect: ") })
        #expect(faults.contains(/[a-z] [1-9]/))
        #expect(ending.output.contains { $0.contains(/kinds of faults with an effect in each seed: ([5-9]|[0-9]{2})/) })
        #expect(ending.output.contains { $0.contains(#/coverage: [0-9]{2,3} of /#) })
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
            ["--seeds", "2", "--minutes", "1"], ["--limits", "small"], ["--trace"],
            ["--trace", "--seed", "1", "--seeds", "2"],
            ["--seed", "\(UInt64.max)"], ["--seed", "\(UInt64.max - 2)", "--seeds", "3"],
        ]
    )
    func `rejects invalid options`(arguments: [String]) async throws {
        let ending = try await Tool.simulate.run(arguments)
        #expect(ending.exitCode == 64)
        #expect(ending.errors.contains("Error: "))
    }

    @Test(arguments: ["standard", "tiny"])
    func `runs clusters with the chosen limits`(limits: String) async throws {
        let ending = try await Tool.simulate.run(["--seed", "1", "--events", "300", "--trace", "--limits", limits])
        #expect(ending.exitCode == 0, "\(ending.errors)")
        // The limit of a session's window, from a watermark.
        let windows = limits == "tiny" ? "windowActionsMax: 8," : "windowActionsMax: 16384,"
        #expect(ending.output.contains { $0.contains(windows) })
    }

    #if DEBUG
        /// How a planted fault is found.
        struct Finding: Sendable {
            /// The first seed from 1 on that finds it. A change of the protocol, the engine or the simulation changes
            /// what happens with a seed: later ones are run then, up to a bound.
            let seed: Int
            /// The rules that the fault may break first; none: the process ends.
            let rules: [String]

            init(_ seed: Int, _ rules: [String]) { (self.seed, self.rules) = (seed, rules) }
        }

        static let findings: [PlantedFault: Finding] = [
            .publishesBeforeDurable: Finding(3, ["publishedIsDurable"]),
            .storesSnapshotWithoutSessions: Finding(5, ["nodesStayUp", "outcomesAreFinal"]),
            .storesSnapshotUnderOtherRevision: Finding(5, ["recoveredWasPublished"]),
            .sendsUndurableWatermark: Finding(7, ["publishedIsDurable"]),
            .trustsLostPositions: Finding(26, ["shownWasPublished"]),
            .welcomesWithWrongHead: Finding(1, ["converges"]),
            .composesWithoutLastUpdate: Finding(2, ["shownWasPublished"]),
            .answersNoKnownActions: Finding(7, ["converges"]),
            .startsEffectsOfRolledBackBatches: Finding(3, ["receiptsHold"]),
            .keepsNumberOfOneSession: Finding(25, ["appliedOnce"]),
            .admitsNoRestOfFrame: Finding(15, ["limitsHold"]),
            .ignoresRights: Finding(3, ["rightsHold"]),
            .needsAllRights: Finding(1, ["rightsHold"]),
            .ignoresOwner: Finding(1, ["rightsHold"]),
            .trimsUndurableOutcomes: Finding(7, ["nodesStayUp", "appliedOnce"]),
            .evictsActiveSessions: Finding(29, []),
            .admitsEvictedSessions: Finding(48, ["appliedOnce", "converges"]),
            .admitsSessionsAfterLostRecords: Finding(3, ["appliedOnce", "converges"]),
            .leavesMarkOfReducedAction: Finding(225, ["onlyTrapsAreRejectedAsSuch"]),
            .cutsRunsWithoutRevision: Finding(6, ["receiptsHold"]),
            .reusesEpoch: Finding(3, ["recoveredWasPublished"]),
            .joinsBeforeFeed: Finding(1, ["subscriptionsMatch"]),
            .appliesUpdatesWithGap: Finding(4, ["shownWasPublished"]),
            .followsLowerEpoch: Finding(15, ["positionsRise"]),
            .buffersWithoutBound: Finding(37, ["limitsHold"]),
            .reportsTransientRefusal: Finding(3, ["outcomesAreFinal"]),
            .followsForeignRefusals: Finding(3, ["appliedOnce", "outcomesAreFinal"]),
            .resolvesOneMore: Finding(1, ["oneOutcome"]),
            .sendsBeforeSaved: Finding(1, ["sessionFilesAreReadable", "decisionsAreSaved"]),
            .reportsUnsavedDecisions: Finding(1, ["decisionsAreSaved"]),
            .dropsUnreportedOutcomes: Finding(1, ["decisionsAreSaved"]),
            .missesLostOutcomes: Finding(9, ["converges"]),
            .resendsInOtherLineage: Finding(2, ["converges", "appliedOnce"]),
        ]

        @Test func `each planted fault of the simulated code has a seed that finds it`() {
            // Found by the seeded faults of the real journal.
            let ofFiles: Set<PlantedFault> = [.acknowledgesAfterReceipts]
            #expect(Set(Self.findings.keys).union(ofFiles) == Set(PlantedFault.allCases))
        }

        /// The fault, and not the seed, breaks the rule: the same seed without the fault breaks none.
        @Test(arguments: findings.keys.sorted { $0.rawValue < $1.rawValue })
        func `finds planted faults`(fault: PlantedFault) async throws {
            let finding = try #require(Self.findings[fault])
            let ending = try await Tool.simulate.run(
                [
                    "--plant", fault.rawValue, "--seed", "\(finding.seed)", "--seeds", "300", "--jobs", "1",
                    "--events", "4000", "--tries", "0",
                ]
            )
            #expect(ending.exitCode != 0, "\(fault) stays hidden: \(ending.output.joined(separator: "\n"))")
            let causes =
                finding.rules.isEmpty
                ? ["is not in the table", "is durable already"] : finding.rules.map { ": \($0) at " }
            #expect(causes.contains { ending.errors.contains($0) }, "\(ending.errors)")
            let found = try #require(try Self.command(in: ending).last, "\(ending.errors)")
            let control = try await Tool.simulate.run(["--seed", found, "--events", "4000"])
            #expect(control.exitCode == 0, "seed \(found) without the fault: \(control.errors)")
        }

        @Test func `names the command that repeats a failure with few faults`() async throws {
            let fault = PlantedFault.composesWithoutLastUpdate
            let first = try #require(Self.findings[fault]).seed
            let ending = try await Tool.simulate.run(
                ["--plant", fault.rawValue, "--seed", "\(first)", "--seeds", "300", "--events", "4000"]
            )
            let command = try Self.command(in: ending)
            let skip = try #require(command.firstIndex(of: "--skip"))
            #expect(command[skip + 1].split(separator: ",").count > 3)
            let again = try await Tool.simulate.run(command)
            #expect(again.exitCode == 1)
            #expect(again.errors.contains("shownWasPublished"))
            #expect(again.output.contains { $0.contains("VIOLATION of shownWasPublished") })
        }

        /// The arguments of the command that repeats a failure.
        private static func command(in ending: Tool.Ending) throws -> [String] {
            let line = try #require(ending.errors.split(separator: "\n").first { $0.hasPrefix("repeat with: ") })
            return line.split(separator: " ").dropFirst(3).map(String.init)
        }
    #else
        @Test func `plants no fault in release`() async throws {
            let ending = try await Tool.simulate.run(["--plant", "joinsBeforeFeed"])
            #expect(ending.exitCode == 64)
            #expect(ending.errors.contains("faults can be planted in debug builds only"))
        }
    #endif
}
