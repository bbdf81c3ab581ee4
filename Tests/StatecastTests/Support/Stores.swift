import Statecast
import StatecastJournal

/// A state of any size.
struct Blob: Codable, Equatable, Sendable {
    var text = ""
    var writes = 0
    var parts: [String: String] = [:]
}

/// Replaces the text by one of `letters` letters.
struct BlobWritten: Action {
    let letters: Int
}

/// Adds a part of `letters` letters.
struct PartAdded: Action {
    let name: String
    let letters: Int
}

extension Blob {
    static let actions: [any Action.Type] = [BlobWritten.self, PartAdded.self]

    static let reducer = Reducer<Blob> { blob, action in
        switch action {
        case let action as BlobWritten:
            blob.writes += 1
            blob.text = String(
                repeating: Character(Unicode.Scalar(UInt8(97 + blob.writes % 26))),
                count: action.letters
            )
        case let action as PartAdded: blob.parts[action.name] = String(repeating: "p", count: action.letters)
        default: break
        }
    }
}

/// Runs the body beside a primary of a blob; it gets the primary's address.
func withBlob(
    _ configure: (inout PrimaryConfiguration) -> Void = { _ in },
    _ body: (PrimaryAddress) async throws -> Void
) async throws {
    var configuration = PrimaryConfiguration.quick
    configure(&configuration)
    let primary = try Primary(
        store: "blob",
        state: Blob(),
        actions: Blob.actions,
        configuration: configuration,
        reducer: Blob.reducer
    )
    try await body(try await primary.start())
    await primary.stop()
}

/// A state that records the order of reductions.
struct Diary: Codable, Equatable, Sendable {
    var lines: [String] = []
}

/// Adds a line.
struct Written: Action, Equatable {
    let line: String
}

extension Diary {
    static let actions: [any Action.Type] = [Written.self]

    /// Appends each line, and returns the effect that `effect` returns for it.
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
    /// A primary of a store `diary`, by default with quick limits and on free ports.
    static func diary(
        _ journal: (any Journal)? = nil,
        _ configuration: PrimaryConfiguration = .quick,
        middleware: [Middleware<Diary>] = [],
        log: EventLog = EventLog(),
        effect: @escaping @Sendable (_ line: String, _ diary: Diary) -> Effect = { _, _ in .none },
        initialEffect: @escaping @Sendable (Diary) -> Effect = { _ in .none }
    ) throws -> Primary<Diary> {
        try Primary(
            store: "diary",
            state: Diary(),
            actions: Diary.actions,
            middleware: middleware,
            initialEffect: initialEffect,
            journal: journal,
            configuration: configuration,
            logger: LogBook.logger(log),
            reducer: Diary.reducer(effect)
        )
    }
}
