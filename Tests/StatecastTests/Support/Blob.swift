import Statecast

/// A state of any size, for what needs many bytes.
struct Blob: Codable, Equatable, Sendable {
    var text = ""
    var writes = 0
    var parts: [String: String] = [:]
}

/// Replaces the text by one of so many letters.
struct BlobWritten: Action {
    let letters: Int
}

/// Adds a part of so many letters.
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
    var configuration = PrimaryConfiguration.anyPorts
    configuration.limits = .quick
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
