import Journal
import Statecast

/// A state that shows in which order things were reduced.
struct Diary: Codable, Equatable, Sendable {
    var lines: [String] = []
}

/// Adds a line.
struct Written: Action, Equatable {
    let line: String
}

extension Diary {
    static let actions: [any Action.Type] = [Written.self]

    /// Writes each line down; `effect` says what is to be done about it.
    static func reducer(
        _ effect: @escaping @Sendable (_ line: String, _ diary: Diary) -> Effect = { _, _ in .none }
    ) -> Reducer<Diary> {
        Reducer { diary, action -> Effect in
            guard let written = action as? Written else { return .none }
            diary.lines.append(written.line)
            return effect(written.line, diary)
        }
    }
}

extension Primary<Diary> {
    /// A primary of a store `diary`, with quick limits and on free ports unless told otherwise.
    static func diary(
        _ journal: (any Journal)? = nil,
        _ configuration: PrimaryConfiguration = .quick,
        log: EventLog = EventLog(),
        effect: @escaping @Sendable (_ line: String, _ diary: Diary) -> Effect = { _, _ in .none },
        initialEffect: @escaping @Sendable (Diary) -> Effect = { _ in .none }
    ) throws -> Primary<Diary> {
        try Primary(
            store: "diary",
            state: Diary(),
            actions: Diary.actions,
            initialEffect: initialEffect,
            journal: journal,
            configuration: configuration,
            logger: LogBook.logger(log),
            reducer: Diary.reducer(effect)
        )
    }
}
