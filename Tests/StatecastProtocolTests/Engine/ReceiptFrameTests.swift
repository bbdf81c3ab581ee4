import StatecastCoding
import StatecastCore
import Testing

@testable import StatecastProtocol

@Suite struct `Receipts of the primary` {
    /// A primary that applies odd numbers and rejects even ones.
    private static func alternating(_ count: UInt64, _ change: (inout Limits) -> Void = { _ in }) -> PrimaryBench {
        var bench = PrimaryBench(
            .with { limits in
                limits.maxWindowActions = Int(count)
                limits.maxSessionMessageBytes = 1 << 20
                change(&limits)
            }
        )
        for number in stride(from: 2, through: count, by: 2) {
            let message = "\(number): " + String(repeating: "m", count: 100)
            bench.verdicts[number] = .rejected(Rejection(.refused, message))
        }
        bench.engine.budget = TurnBudget(actions: .max, bytes: .max)
        bench.push(1...count)
        return bench
    }

    private static func receipts(_ answers: [Answer]) -> [Receipts] {
        answers.frames(on: .receipts(Fixture.session))
            .compactMap { if case .receipts(let receipts) = $0 { receipts } else { nil } }
    }

    @Test func `Receipts of the primary of a thousand applied actions are a few bytes`() throws {
        var bench = PrimaryBench()
        bench.push(1...1000)
        let frames = bench.turnAndCommit().frames(on: .receipts(Fixture.session))
        #expect(frames.count == 1)
        let message = Message.encode(
            try #require(frames.first),
            to: Address(Fixture.store(), .receipts(Fixture.session))
        )
        #expect(message.count <= 80)
    }

    @Test func `Receipts of the primary have maxReceiptRuns runs in a frame, and one more follows in another`() {
        let maxRuns = UInt64(Limits.maxReceiptRuns)
        for (count, expected) in [(maxRuns, [maxRuns]), (maxRuns + 1, [maxRuns, 1])] {
            var bench = Self.alternating(count)
            let frames = Self.receipts(bench.turnAndCommit())
            #expect(frames.map { UInt64($0.outcomes.runCount) } == expected)
            #expect(frames.flatMap(\.outcomes.list).count == Int(count))
            bench.turn()
            // The answer to a subscription, too.
            #expect(Self.receipts(bench.subscribed(to: .receipts(Fixture.session))) == frames)
        }
    }

    @Test func `Receipts that do not fit a frame follow in another, and resolve all actions of a sender`() throws {
        let maxFrameBytes = 1000
        var bench = Self.alternating(400) { $0.maxFrameBytes = maxFrameBytes }
        var sender = SenderBench.open()
        let tickets = sender.send(400)
        sender.push()
        let frames = Self.receipts(bench.turnAndCommit())
        #expect(frames.count > 5)
        let address = Address(Fixture.store(), .receipts(Fixture.session))
        for receipts in frames {
            let message = Message.encode(.receipts(receipts), to: address)
            #expect(message.count <= maxFrameBytes)
            sender.receive(try Frame(decoding: #require(Message.split(message)).body))
        }
        for (number, ticket) in zip(UInt64(1)..., tickets) {
            let revision = number.isMultiple(of: 2) ? nil : (number + 1) / 2
            #expect(sender.revision(ticket) == revision, "number \(number)")
        }
        #expect(sender.outcomes.count == 400)
    }
}

@Suite struct `Sessions in a snapshot` {
    private static func context(_ sessions: Value) -> [UInt8] {
        Value.array([3, 0, 7, 1, sessions, 0]).encoded
    }

    private static func bench(continuing context: SnapshotContext) -> PrimaryBench {
        let history = History(
            lineage: Fixture.lineage,
            epoch: Epoch(4),
            epochs: [],
            from: context,
            at: JournalSequence(9),
            Revision(4)
        )
        return PrimaryBench(history: history)
    }

    @Test func `Sessions in a snapshot need a few bytes for a thousand applied actions`() throws {
        var bench = PrimaryBench()
        bench.push(1...1000)
        bench.turnAndCommit()
        let context = try #require(bench.context)
        #expect(context.encoded.count <= 80)
        let read = try SnapshotContext(decoding: context.encoded)
        #expect(read.sessions.agrees(with: context.sessions))
        #expect(context.sessions.agrees(with: read.sessions))
        var next = Self.bench(continuing: read)
        #expect(next.subscribed(to: .receipts(Fixture.session)).receipts().count == 1000)
    }

    @Test(
        arguments: [
            [0, [0, .unsigned(.max), [1]], []], [0, [0, 1, [[.unsigned(UInt64(Int64.max) + 1), 1]]], []],
            [0, [0, 1, [[0, 1]]], []], [0, [0, 1, [[1, 1]]], []], [0, [0, 1, [[]]], []], [0, [0, 1, 5], []],
        ] as [Value]
    )
    func `Sessions in a snapshot are malformed with runs out of range`(sessions: Value) {
        #expect(throws: CodingFailure.self) { try SnapshotContext(decoding: Self.context(sessions)) }
    }

    @Test func `Sessions in a snapshot continue near the end of the range of numbers without a trap`() throws {
        let context = try SnapshotContext(decoding: Self.context([0, [0, .unsigned(.max - 1), [1]], []]))
        var history = History(
            lineage: Fixture.lineage,
            epoch: Epoch(4),
            epochs: [],
            from: context,
            at: JournalSequence(0),
            Revision(0)
        )
        let run = BatchRecord.Run(
            session: .primary,
            opened: JournalSequence(0),
            first: ActionNumber(.max),
            time: Fixture.time,
            user: nil,
            entries: [BatchRecord.Entry(action: [], rejection: nil)]
        )
        let record = BatchRecord(
            epoch: Fixture.epoch,
            from: Revision(0),
            to: Revision(1),
            summary: Summary(digest: 7, bytes: 1),
            runs: [run],
            patch: [0xA0]
        )
        #expect(throws: CodingFailure.self) { try history.replay(record, at: JournalSequence(1), limits: Limits()) }
    }
}
