package import StatecastCoding

/// A replica's representation of the published state.
package protocol DocumentContent<State>: Sendable {
    associatedtype State: Sendable

    /// Replaces the state by a snapshot, in CBOR.
    mutating func install(_ snapshot: [UInt8]) throws

    mutating func apply(_ patch: Patch) throws

    /// The state's digest, to compare with the primary's, and its size.
    mutating func summary() throws -> Summary

    /// Takes over what a copy knows after its `summary()`.
    mutating func takeSummary(from copy: any Sendable)

    /// The state to show.
    func state() throws -> State
}

extension DocumentContent {
    package mutating func takeSummary(from copy: any Sendable) {}

    package mutating func digest() throws -> UInt64 { try summary().digest }
}

/// A state without its type: a tree, and its summary.
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

    func decoded<State: Decodable>() throws -> State { try StateDecoder().decode(State.self, from: value) }
}

/// The content for replicas that do not know the types.
package struct UntypedContent: DocumentContent {
    private var tree = Tree()

    package init() {}

    package mutating func install(_ snapshot: [UInt8]) throws { tree = try Tree(snapshot) }
    package mutating func apply(_ patch: Patch) throws { try tree.apply(patch) }
    package func summary() -> Summary { tree.summary }
    package func state() -> Value { tree.value }
}

/// The content for a type that can only be decoded: each state that is shown is decoded as a whole.
struct DecodedContent<State: Decodable & Sendable>: DocumentContent {
    private var tree = Tree()

    mutating func install(_ snapshot: [UInt8]) throws { tree = try Tree(snapshot) }
    mutating func apply(_ patch: Patch) throws { try tree.apply(patch) }
    func summary() -> Summary { tree.summary }
    func state() throws -> State { try tree.decoded() }
}

/// The content for a type that can be decoded and encoded: the state itself, patched in O(change) where the type allows
/// it.
///
/// Encoding a decoded snapshot again shows how much of the published state the type represents.
package struct TypedContent<State: Codable & Sendable>: DocumentContent {
    private enum Kept {
        case nothing
        /// The type represents the whole published state. The content also keeps the state whose summary is known: the
        /// summary is updated by the differ, from the changes since that state.
        case state(State, since: State, Summary)
        /// The type of another build has fewer or more fields, and agrees in all fields that both have: patches fit it,
        /// and the tree keeps the fields that the type lacks.
        case both(State, Tree)
        /// The type represents a part in another form. It is decoded again for each state that is shown.
        case tree(Tree)
    }

    private var kept = Kept.nothing

    package init() {}

    package mutating func summary() throws -> Summary {
        switch kept {
        case .nothing: throw Self.missing
        case .state(let state, since: let old, var summary):
            summary.advance(by: try Differ.patch(from: old, to: state))
            kept = .state(state, since: state, summary)
            return summary
        case .both(_, let tree), .tree(let tree): return tree.summary
        }
    }

    package mutating func takeSummary(from copy: any Sendable) {
        guard case .state(let state, since: _, _) = kept, case .state(_, let since, let summary) = (copy as? Self)?.kept
        else { return }
        kept = .state(state, since: since, summary)
    }

    package mutating func install(_ snapshot: [UInt8]) throws {
        kept = .nothing
        let state = try StateDecoder().decode(State.self, from: snapshot)
        let again = try StateEncoder().encode(state)
        if again == snapshot {
            kept = .state(state, since: state, try Summary(ofEncoded: snapshot))
        } else {
            let tree = try Tree(snapshot)
            kept = tree.value.agrees(with: try Value(decoding: again)) ? .both(state, tree) : .tree(tree)
        }
    }

    package mutating func apply(_ patch: Patch) throws {
        // The state has no second owner while it changes, so that its collections are changed in place.
        let kept = kept
        self.kept = .nothing
        switch consume kept {
        case .nothing: throw Self.missing
        case .state(var state, since: let old, let summary):
            try patch.apply(to: &state)
            self.kept = .state(state, since: old, summary)
        case .both(var state, var tree):
            try tree.apply(patch)
            // A type may omit collection entries that a patch changes.
            do { try patch.apply(to: &state) } catch { state = try tree.decoded() }
            self.kept = .both(state, tree)
        case .tree(var tree):
            try tree.apply(patch)
            self.kept = .tree(tree)
        }
    }

    package func state() throws -> State {
        switch kept {
        case .nothing: throw Self.missing
        case .state(let state, since: _, _), .both(let state, _): state
        case .tree(let tree): try tree.decoded()
        }
    }

    private static var missing: CodingFailure { CodingFailure(.missingValue, "there is no state yet") }
}

extension Value {
    /// Whether two trees are equal in all fields that both have.
    fileprivate func agrees(with other: Value) -> Bool {
        switch (self, other) {
        case (.map(let left), .map(let right)):
            left.allSatisfy { key, value in right[key].map { value.agrees(with: $0) } ?? true }
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.agrees(with: $1) }
        default: self == other
        }
    }
}
