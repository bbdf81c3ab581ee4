import StatecastCoding
import StatecastCore
import Testing

@testable import StatecastProtocol

@Suite struct `A record body` {
    /// The entries of a batch, and the same actions one by one.
    private struct Twin {
        var entries = RecordEntries()
        var frames: [ActionsFrame] = []
        var runs: [BatchRecord.Run] = []
        /// The number after the last one of each session.
        var numbers: [SessionID: UInt64] = [:]

        /// Begins a run, as a primary that records each action.
        mutating func append(_ entry: BatchRecord.Entry, to run: BatchRecord.Run) {
            var run = run
            run.first = ActionNumber(numbers[run.session, default: 1])
            numbers[run.session] = run.first.rawValue + 1
            if let last = runs.last, last.session == run.session, last.opened == run.opened, last.time == run.time,
                last.user == run.user, last.first.rawValue + UInt64(last.entries.count) == run.first.rawValue
            {
                runs[runs.count - 1].entries.append(entry)
            } else {
                run.entries = [entry]
                runs.append(run)
            }
        }

        /// A frame of a session, each action with a random outcome.
        mutating func resolveFrame(_ generator: inout SeededGenerator) {
            let session = [Fixture.session, Fixture.otherSession, .primary][generator.below(3)]
            if generator.oneIn(8) { numbers[session, default: 1] += 1 }
            var run = BatchRecord.Run(
                session: session,
                opened: JournalSequence(UInt64(generator.below(2))),
                first: ActionNumber(numbers[session, default: 1]),
                time: Timestamp(milliseconds: Int64(generator.below(2))),
                user: generator.oneIn(6) ? "ann" : nil,
                entries: []
            )
            let frame = ActionsFrame(
                lineage: Fixture.lineage,
                session: session,
                opened: run.opened,
                base: ActionNumber(1),
                first: run.first,
                actions: (0..<generator.below(12)).map { _ in generator.bytes(below: 300) }
            )
            frames.append(frame)
            begin(run)
            for item in frame.items() {
                if generator.oneIn(12) {
                    run.time = generator.time()
                    begin(run)
                }
                resolve(item.item, Array(frame[item.content]), of: run, &generator)
            }
        }

        private mutating func begin(_ run: BatchRecord.Run) {
            let first = ActionNumber(numbers[run.session, default: 1])
            entries.begin(run.session, opened: run.opened, first: first, time: run.time, user: run.user)
        }

        private mutating func resolve(
            _ item: Range<Int>,
            _ action: [UInt8],
            of run: BatchRecord.Run,
            _ generator: inout SeededGenerator
        ) {
            let frame = frames.count - 1
            let rejection = generator.rejection()
            var entry = BatchRecord.Entry(action: action, rejection: nil)
            switch generator.below(10) {
            case 0:
                entry.action = generator.bytes(below: 300)
                entries.applied(.bytes(entry.action))
            case 1:
                entry.rejection = rejection
                entries.rejected(.item(frame, item), rejection)
            case 2:
                entry = BatchRecord.Entry(action: [], rejection: rejection)
                entries.rejected(.absent, rejection)
            case 3:
                entry.rejection = rejection
                entries.rejected(.bytes(action), rejection)
            default: entries.applied(.item(frame, item))
            }
            append(entry, to: run)
        }

        func check(_ generator: inout SeededGenerator) {
            let from = generator.number()
            let to = generator.oneIn(3) ? from : generator.number()
            let head = RecordHead(
                epoch: Epoch(generator.number()),
                from: Revision(min(from, to)),
                to: Revision(max(from, to)),
                summary: Summary(of: .unsigned(generator.number())),
                migrations: generator.oneIn(3) ? generator.below(300) : nil
            )
            let patch = from == to ? [] : generator.item()
            let forgotten = (0..<generator.below(3)).map { _ in generator.session() }
            let maxMessageBytes = [0, 7, 20, 1000][generator.below(4)]
            var record = BatchRecord(
                epoch: head.epoch,
                from: head.from,
                to: head.to,
                summary: head.summary,
                runs: runs,
                forgotten: forgotten,
                patch: patch,
                migrations: head.migrations
            )
            record.dropMessages(maxBytes: maxMessageBytes)
            let body = entries.body(
                head,
                frames: frames,
                forgotten: forgotten,
                patch: patch,
                maxMessageBytes: maxMessageBytes
            )
            #expect(body == record.encoded)
        }
    }

    @Test(arguments: seeds(0..<500)) func `A record body equals the encoded record`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var twin = Twin()
        for _ in 0..<generator.below(8) { twin.resolveFrame(&generator) }
        twin.check(&generator)
    }

    @Test func `A record body continues a run over several frames, and keeps adjacent actions together`() throws {
        var entries = RecordEntries()
        for first: UInt64 in [1, 4] {
            let number = ActionNumber(first)
            entries.begin(Fixture.session, opened: JournalSequence(0), first: number, time: Fixture.time, user: nil)
            for item in [0..<2, 2..<4, 4..<6] { entries.applied(.item(Int(first / 4), item)) }
        }
        let frames = [[[1], [2], [3]], [[4], [5], [6]]].map { (actions: [[UInt8]]) in
            ActionsFrame(
                lineage: Fixture.lineage,
                session: Fixture.session,
                opened: JournalSequence(0),
                base: ActionNumber(1),
                first: ActionNumber(UInt64(actions[0][0])),
                actions: actions
            )
        }
        #expect(try read(entries, frames).map { $0.entries.map(\.action) } == [[[1], [2], [3], [4], [5], [6]]])
    }

    @Test func `A record body keeps the newest messages of each session`() throws {
        var entries = RecordEntries()
        for session in [Fixture.session, Fixture.otherSession] {
            entries.begin(session, opened: JournalSequence(0), first: ActionNumber(1), time: Fixture.time, user: nil)
            for message in ["one", "two", "three"] { entries.rejected(.absent, Rejection(.refused, message)) }
        }
        let runs = try read(entries, [], maxMessageBytes: 8)
        #expect(messages(runs) == [["", "two", "three"], ["", "two", "three"]])
        let fewer = try read(entries, [], maxMessageBytes: 7)
        #expect(messages(fewer) == [["", "", "three"], ["", "", "three"]])
    }

    private func messages(_ runs: [BatchRecord.Run]) -> [[String?]] {
        runs.map { $0.entries.map { $0.rejection?.message } }
    }

    private func read(
        _ entries: RecordEntries,
        _ frames: [ActionsFrame],
        maxMessageBytes: Int = 1000
    ) throws -> [BatchRecord.Run] {
        let head = RecordHead(epoch: Epoch(1), from: Revision(0), to: Revision(0), summary: Summary(of: .null))
        let body = entries.body(head, frames: frames, forgotten: [], patch: [], maxMessageBytes: maxMessageBytes)
        return try BatchRecord(decoding: body).runs
    }

    // MARK: Any frame

    /// No peer can write a journal that does not open.
    @Test(arguments: seeds(0..<2000)) func `A record body of any frame can be read`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        try WireLaws.check(Self.frameInAnyForm(&generator))
    }

    /// The bytes of a frame with actions in any form, possibly damaged.
    private static func frameInAnyForm(_ generator: inout SeededGenerator) -> [UInt8] {
        let count = generator.below(8)
        let frame = ActionsFrame(
            lineage: generator.lineage(),
            session: Fixture.session,
            opened: JournalSequence(generator.number()),
            base: ActionNumber(generator.number()),
            first: ActionNumber(generator.number()),
            actions: []
        )
        var bytes = Array(AnyFrame.pushed(frame, Fixture.secret).encoded.dropLast()) + [0x80 | UInt8(count)]
        for _ in 0..<count {
            let payload = Value.map([["x", "y", "text"][generator.below(3)]: .unsigned(UInt64(generator.below(300)))])
            let name = Value.text(["Moved", "Named", "Gone"][generator.below(3)])
            let action = generator.oneIn(3) ? generator.bytes() : Value.array([name, payload]).encoded
            let head: [[UInt8]] = [
                [0x58], [0x59, 0], [0x5A, 0, 0, 0], [0x5B, 0, 0, 0, 0, 0, 0, 0],
            ]
            bytes += head[generator.below(4)] + [UInt8(action.count)] + action
        }
        for _ in 0..<generator.below(3) { bytes[generator.below(bytes.count)] = UInt8(generator.below(256)) }
        return bytes
    }
}
