/// A state while it is recovered.
internal import StateCoding

protocol RecoveredContent {
    mutating func apply(_ patch: Patch) throws
    func digest() throws -> UInt64
}

/// As itself.
struct StateContent<State: Codable>: RecoveredContent {
    private(set) var state: State

    init(_ bytes: [UInt8]) throws { state = try StateDecoder().decode(State.self, from: bytes) }

    mutating func apply(_ patch: Patch) throws { try patch.apply(to: &state) }
    func digest() throws -> UInt64 { try Summary(ofEncoded: StateEncoder().encode(state)).digest }
}

/// In the shape in which it was recorded.
struct TreeContent: RecoveredContent {
    private(set) var tree: Value

    init(_ bytes: [UInt8]) throws { tree = try Value(decoding: bytes) }

    mutating func apply(_ patch: Patch) throws { try patch.apply(to: &tree) }
    func digest() -> UInt64 { Summary(of: tree).digest }
}
