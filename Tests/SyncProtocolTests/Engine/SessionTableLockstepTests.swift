import StateCoding
import StateCore
import Testing

@testable import SyncProtocol

/// The table of runs and the table of lists, which get the same events.
private struct Pair {
    static let limits = (sessions: 3, outcomes: 8, messageBytes: 12)

    var runs = SessionTable()
    var lists = ListedSessionTable()

    static let ids = [SessionID.primary] + (1...5).map { SessionID(high: 9, low: $0) }

    /// A rejection of the few that are used, or the next revision, which may follow those of other sessions.
    static func kind(_ revision: inout UInt64, _ count: Int, using generator: inout SeededGenerator) -> OutcomeRun.Kind
    {
        guard generator.oneIn(2) else {
            let message = ["", "no", "not today"][generator.below(3)]
            return .rejected(Rejection(generator.oneIn(3) ? .refused : .swallowed, message))
        }
        revision += generator.oneIn(2) ? 1 : 3
        defer { revision += UInt64(count) }
        return .applied(Revision(revision))
    }

    mutating func open(_ id: SessionID, opened: JournalSequence, base: ActionNumber, _ place: Comment) {
        guard id != .primary, runs[id] == nil else { return }
        let session = SessionTable.Session(opened: opened, base: base)
        let listed = ListedSessionTable.Session(opened: opened, base: base)
        let isOpen = runs.open(id, session, countMax: Self.limits.sessions)
        #expect(isOpen == lists.open(id, listed, countMax: Self.limits.sessions), place)
    }

    mutating func append(_ kind: OutcomeRun.Kind, count: Int, to id: SessionID) {
        let room = Self.limits.outcomes - (runs[id]?.undurableCount ?? 0)
        guard room > 0, let first = runs[id]?.expected,
            let run = OutcomeRun(first: first, count: min(count, room), kind: kind)
        else { return }
        var outcomes = OutcomeRuns(first: first)
        outcomes.append(kind, count: run.count)
        runs.update(id) { $0.append(contentsOf: outcomes, countMax: Self.limits.outcomes) }
        lists.update(id) { session in
            for index in 0..<run.count {
                session.append(run.outcome(of: first.advanced(by: index)), countMax: Self.limits.outcomes)
            }
        }
    }

    mutating func markDurable(_ id: SessionID, _ generator: inout SeededGenerator) {
        guard let session = runs[id] else { return }
        let last = session.durable.advanced(by: generator.below(session.undurableCount + 1))
        runs.update(id) { session in
            session.markDurable(through: last)
            session.dropMessages(bytesMax: Self.limits.messageBytes)
        }
        lists.update(id) { session in
            session.durable = last
            session.dropMessages(bytesMax: Self.limits.messageBytes)
        }
    }

    mutating func rewind(_ id: SessionID, _ generator: inout SeededGenerator) {
        guard let session = runs[id] else { return }
        let number = session.durable.advanced(by: 1 + generator.below(session.undurableCount + 1))
        runs.update(id) { $0.rewind(to: number) }
        lists.update(id) { session in
            session.reduced = number.previous
            session.log.rewind(to: number)
        }
    }

    mutating func replay(_ record: BatchRecord, _ place: Comment) {
        let (outcomes, messageBytes) = (Self.limits.outcomes, Self.limits.messageBytes)
        let failures = (
            Self.failure { try runs.replay(record, countMax: outcomes, messageBytesMax: messageBytes) },
            Self.failure { try lists.replay(record, countMax: outcomes, messageBytesMax: messageBytes) }
        )
        #expect(failures.0 == failures.1, place)
    }

    private static func failure(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch { return "\(error)" }
    }

    /// A record that continues sessions without actions in flight; now and then with a wrong number.
    func record(from revision: UInt64, _ generator: inout SeededGenerator) -> BatchRecord {
        var numbers: [SessionID: ActionNumber] = [:]
        var to = revision
        let idle = Self.ids.filter { (runs[$0]?.undurableCount ?? 0) == 0 }
        let recorded = (0..<generator.below(4)).compactMap { _ -> BatchRecord.Run? in
            guard let id = idle.randomElement(using: &generator) else { return nil }
            var first = numbers[id] ?? runs[id]?.expected ?? ActionNumber(5)
            if generator.oneIn(20) { first = first.next }
            let entries = (0..<generator.below(12)).map { _ in
                let isApplied = generator.oneIn(2)
                to += isApplied ? 1 : 0
                let message = ["", "no", "not today"][generator.below(3)]
                return BatchRecord.Entry(action: [], rejection: isApplied ? nil : Rejection(.refused, message))
            }
            numbers[id] = first.advanced(by: entries.count)
            return BatchRecord.Run(
                session: id,
                opened: JournalSequence(2),
                first: first,
                time: Fixture.time,
                user: nil,
                entries: entries
            )
        }
        let forgotten = generator.oneIn(4) ? [Self.ids[1 + generator.below(5)]] : []
        return BatchRecord(
            epoch: Epoch(1),
            from: Revision(revision),
            to: Revision(to + (generator.oneIn(20) ? 1 : 0)),
            digest: 0,
            bytes: 0,
            runs: recorded,
            forgotten: forgotten,
            patch: []
        )
    }

    /// Continues from snapshots; the table of runs from one of either form.
    mutating func restore(_ generator: inout SeededGenerator, _ place: Comment) throws {
        let (new, old) = (CBORWriter.encoded { runs.write(to: &$0) }, CBORWriter.encoded { lists.write(to: &$0) })
        var (reader, listReader) = (CBORReader(new), CBORReader(old))
        let read = try SessionTable(from: &reader)
        #expect(try SessionTable(from: &listReader) == read, place)
        listReader = CBORReader(old)
        (runs, lists) = (read, try ListedSessionTable(from: &listReader))
    }

    func expectEqual(_ place: Comment) {
        #expect(runs.count == lists.count, place)
        #expect(runs.horizon == lists.horizon, place)
        #expect(runs.byUse.map(\.id) == lists.byUse.map(\.id), place)
        for id in Self.ids {
            guard let session = runs[id], let listed = lists[id] else {
                #expect((runs[id] == nil) == (lists[id] == nil), place)
                continue
            }
            #expect(session.opened == listed.opened, place)
            #expect(session.reduced == listed.reduced, place)
            #expect(session.durable == listed.durable, place)
            #expect(session.expected == listed.expected, place)
            #expect(session.outcomes.start == listed.log.start, place)
            for first in [session.outcomes.start, session.durable, session.reduced] {
                let slice = session.durableOutcomes(from: first, through: session.reduced)
                let listed = listed.log.outcomes(from: first, through: session.durable)
                #expect(slice.list == listed.outcomes, place)
                #expect(slice.isEmpty || slice.start == listed.first, place)
            }
            let all = session.outcomes.list
            #expect(all == listed.log.outcomes(from: session.outcomes.start, through: session.reduced).outcomes, place)
        }
    }
}

extension CBORWriter {
    fileprivate static func encoded(_ write: (inout CBORWriter) -> Void) -> [UInt8] {
        var writer = CBORWriter()
        write(&writer)
        return writer.bytes
    }
}

extension OutcomeRuns {
    fileprivate var list: [Outcome] {
        runs.flatMap { run in (0..<run.count).map { run.outcome(of: run.first.advanced(by: $0)) } }
    }
}

@Suite struct `A table of sessions with runs` {
    @Test(arguments: seeds(0..<500)) func `equals the table of lists`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var pair = Pair()
        var earlier = [pair]
        var revision: UInt64 = 0
        for step in 0..<150 {
            let place: Comment = "seed \(seed), step \(step)"
            let id = Pair.ids[generator.below(Pair.ids.count)]
            switch generator.below(12) {
            case 0...1:
                let opened = JournalSequence(UInt64(generator.below(6)))
                pair.open(id, opened: opened, base: ActionNumber(UInt64(1 + generator.below(9))), place)
            case 2...5:
                let count = generator.below(6)
                pair.append(Pair.kind(&revision, count, using: &generator), count: count, to: id)
            case 6...7: pair.markDurable(id, &generator)
            case 8: pair.rewind(id, &generator)
            case 9:
                if generator.oneIn(3) {
                    pair.runs.rewind(forgetting: [id])
                    pair.lists.rewind(forgetting: [id])
                } else {
                    #expect(pair.runs.drainForgotten() == pair.lists.drainForgotten(), place)
                }
            case 10:
                let record = pair.record(from: revision, &generator)
                revision = record.to.rawValue
                pair.replay(record, place)
            default: if generator.oneIn(4) { try pair.restore(&generator, place) }
            }
            pair.expectEqual(place)
            for other in earlier {
                #expect(pair.runs.agrees(with: other.runs) == pair.lists.agrees(with: other.lists), place)
                #expect(other.runs.agrees(with: pair.runs) == other.lists.agrees(with: pair.lists), place)
            }
            if generator.oneIn(20) { earlier = earlier.suffix(2) + [pair] }
        }
    }
}
