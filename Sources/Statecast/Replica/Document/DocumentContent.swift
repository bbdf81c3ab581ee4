/// What a replica keeps of the state that is published.
package import StateCoding

package protocol DocumentContent<State>: Sendable {
    associatedtype State: Sendable

    /// Takes a whole state, in CBOR.
    mutating func install(_ snapshot: [UInt8]) throws

    /// Applies a patch.
    mutating func apply(_ patch: Patch) throws

    /// The digest of what is kept, to compare with the primary's, and its size.
    mutating func summary() throws -> Summary

    /// What is shown.
    func state() throws -> State
}

extension DocumentContent {
    package mutating func digest() throws -> UInt64 { try summary().digest }
}

/// The state without its type: a tree, and its summary.
struct Tree {
    private(set) var value = Value.null
    private(set) var summary = Summary(digest: 0, bytes: 0)

    init() {}

    init(_ snapshot: [UInt8]) throws {
        value = try Value(decoding: snapshot)
        summary = Summary(of: value)
    }

    mutating func apply(_ patch: Patch) throws {
        try patch.apply(to: &value, summary: &summary)
    }

    func decoded<State: Decodable>(_ type: State.Type = State.self) throws -> State {
        try StateDecoder().decode(type, from: value)
    }
}

/// For who does not know the types.
package struct UntypedContent: DocumentContent {
    private var tree = Tree()

    package init() {}

    package mutating func install(_ snapshot: [UInt8]) throws { tree = try Tree(snapshot) }
    package mutating func apply(_ patch: Patch) throws { try tree.apply(patch) }
    package func summary() -> Summary { tree.summary }
    package func state() -> Value { tree.value }
}

/// For a type that can only be decoded: all of it is, for each state that is shown.
struct DecodedContent<State: Decodable & Sendable>: DocumentContent {
    private var tree = Tree()

    mutating func install(_ snapshot: [UInt8]) throws { tree = try Tree(snapshot) }
    mutating func apply(_ patch: Patch) throws { try tree.apply(patch) }
    func summary() -> Summary { tree.summary }
    func state() throws -> State { try tree.decoded() }
}
