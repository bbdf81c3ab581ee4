internal import StateCoding
package import Statecast

/// The actions that a store knows, each with an example.
package struct ActionListing: Sendable {
    private let sender: ActionSender
    private let output: LineOutput
    private let asJSON: Bool

    /// A command's way to list.
    package init(_ sender: ActionSender, output: LineOutput, asJSON: Bool) {
        self.sender = sender
        self.output = output
        self.asJSON = asJSON
    }

    /// Asks the primary, and prints a line for each action.
    ///
    /// - Throws: ``CommandFailure`` on a timeout; ``Rejection`` if there is no such store; ``OutputClosed``.
    package func run(from upstream: Upstream, timeout: Duration?) async throws {
        let sender = sender
        let actions = try await upstream.answer(within: timeout) { try await sender.actions() }
        let width = actions.map(\.name.count).max() ?? 0
        for action in actions {
            let padding = String(repeating: " ", count: width - action.name.count)
            let example = action.example.map { JSON.text(of: $0) } ?? "(no example)"
            let line =
                asJSON
                ? JSONLine(["action": .text(action.name), "payload": action.example ?? .null]).description
                : VisibleText.line(action.name + padding + "  " + example)
            try await output.write(line)
        }
    }
}
