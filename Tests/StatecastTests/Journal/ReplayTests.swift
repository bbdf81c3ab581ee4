import CounterApp
import Statecast
import StatecastCore
import StatecastJournal
import StatecastProtocol
import Testing

/// Reduces the actions of a journal again.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A replay` {
    /// Records the time and the session of each line.
    private static let reducer = Reducer<Diary>.withContext { diary, action, context in
        guard let written = action as? Written else { return .none }
        diary.lines.append("\(written.line) \(context.time.milliseconds) \(context.session ?? "here")")
        return .none
    }

    /// A journal with `count` lines of a sender, each in a batch of its own, and the same number of the primary's own
    /// process.
    private static func journal(
        lines: Int,
        reducer: Reducer<Diary> = Self.reducer
    ) async throws -> MemoryJournal {
        let journal = MemoryJournal()
        let primary = try Primary(
            store: "diary",
            state: Diary(),
            actions: Diary.actions,
            journal: journal,
            configuration: .anyPorts,
            reducer: reducer
        )
        let address = try await primary.start()
        let sender = try ActionSender(store: "diary", from: address.publish, configuration: .quick).started()
        for number in 1...lines {
            _ = try await sender.send(Written(line: "\(number)"))
            try await primary.send(Written(line: "own \(number)"))
        }
        await sender.close()
        await primary.stop()
        return journal
    }

    @Test func `A replay results in the same state, with the recorded times and sessions`() async throws {
        let journal = try await Self.journal(lines: 10)
        let replay = try JournalReplay(of: Diary.self, actions: Diary.actions, reducer: Self.reducer)
        let report = try replay.run(journal)
        #expect(report.difference == nil)
        #expect((report.from, report.to) == (Revision(0), Revision(20)))
        #expect(report.actions == 20)
    }

    @Test func `A replay reports the first revision that another reducer changes differently`() async throws {
        let journal = try await Self.journal(lines: 10)
        let other = Reducer<Diary>.withContext { diary, action, context in
            let effect = Self.reducer.reduce(into: &diary, action, context: context)
            if (action as? Written)?.line == "own 3" { diary.lines.removeFirst() }
            return effect
        }
        let report = try JournalReplay(of: Diary.self, actions: Diary.actions, reducer: other).run(journal)
        let difference = try #require(report.difference)
        #expect(difference.revisions == Revision(6)...Revision(6))
        #expect(difference.patch?.description == #"{"lines":[0,1,[]]}"#)
        #expect(difference.recorded["lines"]?.arrayValue?.count == 6)
    }

    @Test func `A replay detects a reducer that is not deterministic`() async throws {
        let dice = Reducer<Diary> { diary, _ in diary.lines.append("\(UInt64.random(in: 0...(.max)))") }
        let journal = try await Self.journal(lines: 2, reducer: dice)
        let report = try JournalReplay(of: Diary.self, actions: Diary.actions, reducer: dice).run(journal)
        #expect(report.difference?.revisions.lowerBound == Revision(1))
    }

    @Test func `A replay reports an action that this build does not accept`() async throws {
        let journal = try await Self.journal(lines: 2)
        let report = try JournalReplay(of: Diary.self, actions: [], reducer: Self.reducer).run(journal)
        let difference = try #require(report.difference)
        #expect(difference.revisions == Revision(1)...Revision(1))
        #expect(difference.reason.contains("unknown-action"))
    }

    /// The diary of a later build.
    private struct Book: Codable, Equatable, Sendable {
        var lines: [String] = []
        var pages = 0

        init() {}

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            lines = try container.decode([String].self, forKey: .lines)
            pages = try container.decodeIfPresent(Int.self, forKey: .pages) ?? 1
        }

        static let reducer = Reducer<Book> { book, action in
            guard let written = action as? Written else { return }
            book.lines.append(written.line)
            book.pages += 1
        }
    }

    @Test func `A replay begins after the last change of the state's shape`() async throws {
        let journal = try await Self.journal(lines: 3)
        let replay = try JournalReplay(of: Book.self, actions: Diary.actions, reducer: Book.reducer)
        let failure = #expect(throws: JournalFailure.self) { try replay.run(journal) }
        #expect(failure?.code == .misfit)
        let later = try Primary(
            store: "diary",
            state: Book(),
            actions: Diary.actions,
            journal: journal,
            configuration: .anyPorts,
            reducer: Book.reducer
        )
        try await later.start()
        for number in 1...4 { try await later.send(Written(line: "later \(number)")) }
        await later.stop()
        let report = try replay.run(journal)
        #expect(report.difference == nil, "\(report)")
        #expect((report.from, report.to) == (Revision(7), Revision(11)))
        #expect(report.actions == 4)
    }
}
