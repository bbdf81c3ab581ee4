import StatecastCoding
import StatecastCore
import StatecastProtocol
import Testing

/// A run of outcomes as a primary may state it, in range or not.
private struct StatedRun {
    let count: UInt64
    let kind: Outcome

    func write(to writer: inout CBORWriter) {
        var length = 1
        if case .rejected = kind { length = 2 }
        if count != 1 || length == 2 { writer.array(count: length + (count == 1 ? 0 : 1)) }
        if count != 1 { writer.unsigned(count) }
        switch kind {
        case .applied(let revision): writer.unsigned(revision.rawValue)
        case .rejected(let rejection):
            writer.text(rejection.code.rawValue)
            writer.text(rejection.message)
        }
    }

    /// The outcome of the action at an offset in the run.
    func outcome(at offset: UInt64) -> Outcome {
        switch kind {
        case .applied(let revision): return .applied(Revision(revision.rawValue + offset))
        case .rejected(let rejection):
            // More messages than can be counted are not kept.
            let bytes = UInt128(rejection.message.utf8.count) * UInt128(count)
            return .rejected(bytes > UInt128(Int.max) ? Rejection(rejection.code, "") : rejection)
        }
    }
}

/// A frame of receipts as a primary may state it.
private struct StatedReceipts {
    var lineage = Fixture.lineage
    var epoch = Fixture.epoch
    let first: UInt64
    let runs: [StatedRun]

    /// The frame; `nil` if a reader ignores it.
    var frame: Frame? {
        let bytes = CBORWriter.bytes(reserving: 64) { writer in
            writer.array(count: 5)
            writer.unsigned(5)
            writer.bytes((0..<8).map { UInt8(truncatingIfNeeded: lineage.bits >> (56 - 8 * $0)) })
            writer.unsigned(epoch.rawValue)
            writer.unsigned(first)
            writer.array(count: runs.count)
            for run in runs { run.write(to: &writer) }
        }
        return try? Frame(decoding: bytes[...])
    }

    /// The outcome that the frame states for a number; `nil` if it states none.
    func outcome(of number: UInt64) -> Outcome? {
        var start = first
        for run in runs {
            if number >= start, number - start < run.count { return run.outcome(at: number - start) }
            start += run.count
        }
        return nil
    }
}

extension SeededGenerator {
    /// Near the outstanding numbers, and at the ends of the range.
    fileprivate mutating func statedNumber() -> UInt64 {
        oneIn(4) ? [0, 1 << 62, .max - 1, .max][below(4)] : UInt64(below(24))
    }

    fileprivate mutating func statedReceipts() -> StatedReceipts {
        let runs = (0..<below(5)).map { _ -> StatedRun in
            let count = oneIn(8) ? [0, UInt64(Int64.max), 1 << 62, .max][below(4)] : UInt64(1 + below(6))
            guard oneIn(2) else { return StatedRun(count: count, kind: .applied(Revision(statedNumber()))) }
            return StatedRun(count: count, kind: .rejected(Rejection(.refused, oneIn(2) ? "no" : "")))
        }
        return StatedReceipts(
            lineage: oneIn(6) ? Fixture.otherLineage : Fixture.lineage,
            epoch: oneIn(3) ? Epoch(statedNumber()) : Fixture.epoch,
            first: statedNumber(),
            runs: runs
        )
    }
}

@Suite struct `A sender with hostile receipts` {
    @Test(arguments: seeds(0..<2000)) func `A sender with hostile receipts ignores any first and count`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var bench = SenderBench.open()
        let before = bench.send(3)
        bench.push()
        bench.receipts(1...3)
        let outstanding = bench.send(12)
        bench.push()
        let unsent = bench.send(2)
        var expected: [UInt64: Result<Position, Rejection>] = [:]
        for _ in 0..<12 {
            let stated = generator.statedReceipts()
            guard let frame = stated.frame else { continue }
            bench.receive(frame)
            guard stated.lineage == Fixture.lineage else { continue }
            for number in UInt64(4)...15 where expected[number] == nil {
                switch stated.outcome(of: number) {
                case .applied(let revision)?:
                    expected[number] = .success(Fixture.position(revision.rawValue, epoch: stated.epoch))
                case .rejected(let rejection)?: expected[number] = .failure(rejection)
                case nil: break
                }
            }
        }
        #expect(before.map { bench.revision($0) } == [1, 2, 3])
        for (number, ticket) in zip(UInt64(4)..., outstanding) {
            #expect(bench.outcomes[ticket]?.result == expected[number], "seed \(seed), number \(number)")
        }
        #expect(unsent.allSatisfy { bench.outcomes[$0] == nil })
        #expect(bench.machine.pendingCount == 14 - expected.count)
        // The sender continues: a later, honest frame resolves the rest.
        bench.push()
        bench.receipts(4...17)
        #expect(bench.machine.pendingCount == 0)
        #expect(bench.outcomes.count == 17)
    }

    /// With a cost of the stated actions the test would not end.
    @Test(.timeLimit(.minutes(10))) func `A sender with hostile receipts costs the outstanding actions`() throws {
        var bench = SenderBench.open()
        let tickets = bench.send(1000)
        bench.push()
        bench.receipts(2...4)
        for _ in 0..<100 {
            let ahead = (0..<UInt64(Limits.maxReceiptRuns)).map { number in
                StatedRun(
                    count: 1 << 50,
                    kind: number % 2 == 0 ? .applied(Revision(7)) : .rejected(Rejection(.refused, ""))
                )
            }
            let frame = try #require(StatedReceipts(first: 1_000_000, runs: ahead).frame)
            #expect(bench.receive(frame) == [])
        }
        let all = StatedRun(count: UInt64(Int64.max), kind: .applied(Revision(7)))
        let frame = try #require(StatedReceipts(first: 0, runs: [all]).frame)
        let resolved = bench.receive(frame).flatMap { if case .resolve(let runs) = $0 { runs } else { [] } }
        #expect(resolved.count == 997)
        #expect(bench.receive(frame) == [])
        #expect(tickets.map { bench.revision($0) } == [8, 2, 3, 4] + (5...1000).map { $0 + 7 })
    }

    @Test(arguments: [
        StatedRun(count: 0, kind: .applied(Revision(1))), StatedRun(count: 0, kind: .rejected(Rejection(.refused, ""))),
        StatedRun(count: 1 << 63, kind: .applied(Revision(1))), StatedRun(count: .max, kind: .applied(Revision(1))),
        StatedRun(count: 3, kind: .applied(Revision(.max - 1))),
    ])
    private func `A sender with hostile receipts reads no frame with a run out of range`(run: StatedRun) {
        #expect(StatedReceipts(first: 1, runs: [run]).frame == nil)
        let honest = StatedRun(count: 1, kind: .applied(Revision(1)))
        #expect(StatedReceipts(first: 1, runs: [honest, run, honest]).frame == nil)
        #expect(StatedReceipts(first: 1, runs: [honest]).frame != nil)
    }

    @Test func `A sender gets its outcome from a run of rejections whose messages nothing can count`() throws {
        let reason = Rejection(.refused, "no")
        let runs = [
            StatedRun(count: 1, kind: .applied(Revision(5))), StatedRun(count: 1 << 62, kind: .rejected(reason)),
        ]
        for (runs, messages) in [
            (runs, ["", ""]), ([StatedRun(count: 3, kind: .rejected(reason))] + runs, ["no", "no"]),
        ] {
            var bench = SenderBench.open()
            let tickets = bench.send(3)
            bench.push()
            bench.receive(try #require(StatedReceipts(first: 1, runs: runs).frame))
            #expect(bench.machine.pendingCount == 0)
            for (ticket, message) in zip(tickets.dropFirst(), messages) {
                #expect(bench.outcomes[ticket]?.result == .failure(Rejection(.refused, message)))
            }
        }
    }

    @Test(
        arguments: [
            .kept, .notSent, .outcomeUnknown, .sessionDiverged, .endpointRefused, .incompatible, .stopped, .overloaded,
            .storageFull, .busy, .unknownSession, .unknownStore, .malformed,
        ] as [Rejection.Code]
    )
    func `A sender takes a receipt for final that says that the action has no outcome`(code: Rejection.Code) throws {
        var bench = SenderBench.open()
        let ticket = bench.send()[0]
        bench.push()
        let run = StatedRun(count: 1, kind: .rejected(Rejection(code, "later")))
        bench.receive(try #require(StatedReceipts(first: 1, runs: [run]).frame))
        #expect(bench.outcomes[ticket]?.result == .failure(Rejection(.refused, "\(code): later")))
        #expect(bench.machine.pendingCount == 0)
    }

    @Test func `A sender with hostile receipts takes other codes as they are, however long they are`() throws {
        for code in ["over-quota", "Over Quota", "", String(repeating: "x", count: 100_000)] {
            var bench = SenderBench.open()
            let ticket = bench.send()[0]
            bench.push()
            let rejection = Rejection(Rejection.Code(rawValue: code), "no")
            let run = StatedRun(count: 1, kind: .rejected(rejection))
            bench.receive(try #require(StatedReceipts(first: 1, runs: [run]).frame))
            #expect(bench.outcomes[ticket]?.result == .failure(rejection))
        }
    }

    /// Only the sender knows whether an action was sent, or whether its next process finds it.
    @Test(arguments: [.kept, .notSent, .outcomeUnknown, .stopped] as [Rejection.Code])
    func `A sender with hostile receipts believes no refusal about what only it knows`(code: Rejection.Code) {
        var bench = SenderBench.open()
        bench.send()
        bench.push()
        let unsent = bench.send()[0]
        bench.refuse(code)
        #expect(bench.outcomes[unsent]?.result == .failure(Rejection(.refused, "\(code): because")))
    }

    @Test func `A sender with hostile receipts reads no frame of more than maxReceiptRuns runs`() {
        func runs(_ count: Int) -> [StatedRun] {
            (0..<count).map { StatedRun(count: 1, kind: .applied(Revision(UInt64(2 * $0)))) }
        }
        #expect(StatedReceipts(first: 1, runs: runs(Limits.maxReceiptRuns)).frame != nil)
        #expect(StatedReceipts(first: 1, runs: runs(Limits.maxReceiptRuns + 1)).frame == nil)
    }
}
