internal import StateCoding
internal import Statecast

/// Each live state as a line: `{"lineage":"...","epoch":1,"revision":3,"state":{...}}`. The selected part alone where there is one, and
/// then only when it changed; the last state always.
package struct JSONLines: StateDisplay {
    private let output: LineOutput
    private var shown: Value?

    /// Lines on an output.
    package init(_ output: LineOutput) { self.output = output }

    /// Never.
    package var interval: Duration? { nil }

    /// Writes the line.
    package mutating func show(_ state: FollowedState, isNew: Bool, isLast: Bool) async throws {
        guard isNew, let position = state.position, let part = state.part, isLast || state.isWhole || part != shown
        else {
            return
        }
        shown = state.isWhole ? nil : part
        let line = JSONLine([
            "lineage": .text(position.lineage.description), "epoch": Value(position.epoch.rawValue),
            "revision": Value(position.revision.rawValue), "state": part,
        ])
        try await output.write(line.description)
    }

    /// Nothing to close.
    package mutating func close() {}
}
