/// For a type that can be decoded and encoded: the state itself, patched in O(change) where the type allows it.
///
/// How much the type holds of what is published shows when a snapshot is encoded again.
package import StateCoding

package struct TypedContent<State: Codable & Sendable>: DocumentContent {
    private enum Kept {
        case nothing
        /// The type holds all that is published. Nothing else is kept but the state whose summary is known: the next one
        /// follows from what changed since, and is asked for seldom, such as once in a heartbeat.
        case state(State, since: State, Summary)
        /// The type of another build knows less or more, and agrees in all that both know: patches fit it, and what it
        /// does not know is kept in the tree.
        case both(State, Tree)
        /// The type holds some of it in another form. It is decoded anew for each state that is shown.
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
        // What is kept has no second owner while it changes.
        let kept = kept
        self.kept = .nothing
        switch consume kept {
        case .nothing: throw Self.missing
        case .state(var state, since: let old, let summary):
            try patch.apply(to: &state)
            self.kept = .state(state, since: old, summary)
        case .both(var state, var tree):
            try tree.apply(patch)
            // A type that leaves out entries of a collection misses those that a patch changes.
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

    private static var missing: CodingFailure { CodingFailure(.missingValue, "no state is there yet") }
}

extension Value {
    /// Whether two trees hold the same wherever both hold something: fields that only one of them has do not count.
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
