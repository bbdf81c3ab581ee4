import StatecastCoding
import StatecastCore
import Testing

@testable import StatecastProtocol

@Suite struct `Remembered rejection messages` {
    /// Each has 10 bytes; four fit.
    private static let limits = Limits.with { $0.maxSessionMessageBytes = 40 }

    private static func rejection(_ number: UInt64) -> Rejection {
        Rejection(.refused, "message " + (number < 10 ? "0" : "") + "\(number)")
    }

    private static let forgotten = Rejection(.refused, "")

    private static func bench(_ limits: Limits = limits) -> PrimaryBench {
        var bench = PrimaryBench(limits)
        for number in UInt64(1)...20 { bench.verdicts[number] = .rejected(rejection(number)) }
        return bench
    }

    /// The numbers whose message the primary still remembers.
    private func remembered(by bench: inout PrimaryBench) -> [UInt64] {
        bench.turn()
        let receipts = bench.subscribed(to: .receipts(Fixture.session)).receipts()
        for (number, outcome) in receipts {
            #expect(outcome == .rejected(Self.rejection(number)) || outcome == .rejected(Self.forgotten))
        }
        return receipts.filter { $0.value != .rejected(Self.forgotten) }.keys.sorted()
    }

    @Test
    func `Remembered rejection messages fit maxSessionMessageBytes bytes, and are one fewer with one byte less`() {
        for (maxBytes, numbers) in [(40, [1, 2, 3, 4]), (39, [2, 3, 4])] as [(Int, [UInt64])] {
            var bench = Self.bench(.with { $0.maxSessionMessageBytes = maxBytes })
            bench.push(1...4)
            bench.turnAndCommit()
            #expect(remembered(by: &bench) == numbers)
        }
    }

    @Test func `Remembered rejection messages are the newest, and every number in the window keeps its code`() {
        var bench = Self.bench()
        for number in UInt64(1)...6 {
            bench.push(number...number)
            bench.turnAndCommit()
        }
        #expect(remembered(by: &bench) == [3, 4, 5, 6])
        let again = bench.reduce(1...6).receipts()
        #expect(again.keys.sorted() == [1, 2, 3, 4, 5, 6])
        #expect(again[2] == .rejected(Self.forgotten))
        #expect(again[3] == .rejected(Self.rejection(3)))
    }

    @Test func `Remembered rejection messages are all in the first receipts`() {
        var bench = Self.bench()
        bench.push(1...10)
        bench.turn()
        bench.push(11...20)
        bench.turn()
        for numbers in [1...10, 11...20] as [ClosedRange<UInt64>] {
            let receipts = bench.commit(1).receipts()
            #expect(receipts.keys.sorted() == Array(numbers))
            for number in numbers { #expect(receipts[number] == .rejected(Self.rejection(number))) }
        }
        #expect(remembered(by: &bench) == [17, 18, 19, 20])
    }

    @Test func `Rejection messages are dropped with outcomes beyond the window or a rolled-back batch`() {
        var bench = Self.bench(.with { $0.maxWindowActions = 4 })
        bench.push(1...3)
        bench.turnAndCommit()
        // Its batch is reduced, rolled back, and made again with a rejection.
        bench.verdicts[4] = .breaksState
        bench.push(4...4)
        bench.turn()
        bench.verdicts[4] = .rejected(Self.rejection(4))
        bench.fill()
        bench.now = .seconds(1)
        #expect(remembered(by: &bench) == [1, 2, 3])
        bench.push(4...6)
        bench.turnAndCommit()
        #expect(remembered(by: &bench) == [3, 4, 5, 6])
    }

    @Test func `Remembered rejection messages are the same after a restart, from a snapshot and from records`() throws {
        var bench = Self.bench()
        var history = History(lineage: Fixture.lineage, epoch: Epoch(4), summary: Summary(digest: 7, bytes: 1 << 20))
        for (index, numbers) in ([1...6, 7...8, 9...9] as [ClosedRange<UInt64>]).enumerated() {
            bench.push(numbers)
            bench.turnAndCommit()
            var record = BatchRecord(
                epoch: Fixture.epoch,
                from: Revision(0),
                to: Revision(0),
                summary: Summary(digest: 7, bytes: 1 << 20),
                runs: [
                    BatchRecord.Run(
                        session: Fixture.session,
                        opened: JournalSequence(0),
                        first: ActionNumber(numbers.lowerBound),
                        time: Fixture.time,
                        user: nil,
                        entries: numbers.map { BatchRecord.Entry(action: [], rejection: Self.rejection($0)) }
                    )
                ],
                patch: []
            )
            record.dropMessages(maxBytes: Self.limits.maxSessionMessageBytes)
            try history.replay(
                BatchRecord(decoding: record.encoded),
                at: JournalSequence(UInt64(index + 1)),
                limits: Self.limits
            )
        }
        var fromRecords = PrimaryBench(history: history, Self.limits)
        let context = try #require(bench.context)
        let read = try SnapshotContext(decoding: context.encoded)
        var fromSnapshot = PrimaryBench(
            history: History(
                lineage: Fixture.lineage,
                epoch: Epoch(4),
                epochs: [],
                from: read,
                at: JournalSequence(3),
                Revision(0)
            ),
            Self.limits
        )
        #expect(remembered(by: &bench) == [6, 7, 8, 9])
        #expect(remembered(by: &fromRecords) == [6, 7, 8, 9])
        #expect(remembered(by: &fromSnapshot) == [6, 7, 8, 9])
    }
}
