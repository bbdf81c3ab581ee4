import Statecast
import StatecastJournal
import StatecastProtocol
import Testing

/// A build whose action types have other names than those in its journal.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A journal whose actions were renamed` {
    private struct Noted: Action {
        let line: String
    }

    private struct Note: Action {
        static let name = "Noted"
        let line: String
    }

    private struct Notes: Action {
        let line: String
    }

    private let journal = MemoryJournal()

    private func primary(_ actions: [any Action.Type], retired: Set<String> = []) throws -> Primary<Diary> {
        try Primary(
            store: "diary",
            state: Diary(),
            actions: actions,
            journal: journal,
            evolution: StateEvolution(retiredActions: retired),
            configuration: .anyPorts,
            reducer: Reducer<Diary> { diary, action in
                if let noted = action as? Noted { diary.lines.append(noted.line) }
                if let note = action as? Note { diary.lines.append(note.line) }
            }
        )
    }

    /// Has the first build apply an action of a sender, and reject one of another name.
    private func recordOne() async throws {
        let primary = try primary([Noted.self])
        let address = try await primary.start()
        let sender = try ActionSender(store: "diary", from: address.publish, configuration: .quick).started()
        try await sender.send(Noted(line: "1"))
        let rejection = await #expect(throws: Rejection.self) { try await sender.send(named: "Unknown", payload: [:]) }
        #expect(rejection?.code == .unknownAction)
        // The primary's own actions need not be registered.
        try await primary.send(Written(line: "ignored"))
        await sender.close()
        await primary.stop()
    }

    private func failure(_ primary: Primary<Diary>) async -> JournalFailure? {
        let error = await #expect(throws: StatecastError.self) { try await primary.start() }
        #expect(error?.code == .journal)
        return error?.cause as? JournalFailure
    }

    @Test func `A journal whose actions were renamed is refused with the remedy, and stays as it is`() async throws {
        try await recordOne()
        // A stop stores a snapshot that contains all records.
        let before = try (journal.epochs(), journal.records(after: JournalSequence(0), maxBytes: .max))
        let failure = await failure(try primary([Notes.self]))
        #expect(failure?.code == .misfit)
        let message = failure?.message ?? ""
        for part in [
            #"has actions named "Noted""#, #"did you mean "Notes"?"#, #"static let name = "Noted""#, "retiredActions",
        ] {
            #expect(message.contains(part), "\(message)")
        }
        #expect(try journal.epochs() == before.0)
        #expect(try journal.records(after: JournalSequence(0), maxBytes: .max) == before.1)
    }

    @Test func `A journal whose actions were renamed is continued by a type that keeps the name`() async throws {
        try await recordOne()
        let primary = try primary([Note.self])
        let address = try await primary.start()
        let sender = try ActionSender(store: "diary", from: address.publish, configuration: .quick).started()
        try await sender.send(named: "Noted", payload: ["line": "2"])
        await sender.close()
        // The receipt is published before the state is shown in the process itself.
        await primary.stop()
        #expect(primary.state.lines == ["1", "2"])
    }

    @Test func `A journal whose actions were renamed is continued if the name is retired`() async throws {
        try await recordOne()
        let primary = try primary([], retired: ["Noted"])
        try await primary.start()
        #expect(primary.state.lines == ["1"])
        await primary.stop()
    }
}

@Suite struct `A store's actions` {
    private struct TooLong: Action {
        static let name = String(repeating: "n", count: 257)
    }

    private struct Noted: Action {}

    private struct Other: Action {
        static let name = "Noted"
    }

    @Test func `A store's actions have different names that are not too long`() {
        let wrong: [([any Action.Type], String)] = [
            ([Noted.self, Other.self], "two actions are named \"Noted\": give one another static name"),
            (
                [TooLong.self],
                "the name of an action has at most 256 bytes, \"\(TooLong.name.prefix(40))...\" has 257: "
                    + "give the type a shorter static name"
            ),
        ]
        for (actions, message) in wrong {
            let error = #expect(throws: StatecastError.self) {
                try Primary(store: "diary", state: Diary(), actions: actions, reducer: Reducer<Diary> { _, _ in })
            }
            #expect(error?.code == .definition && error?.message == message)
        }
    }
}
