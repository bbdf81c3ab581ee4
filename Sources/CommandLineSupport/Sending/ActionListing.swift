internal import ServiceLifecycle
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
        let actions: [ActionDescription]
        do {
            actions = try await cancelWhenGracefulShutdown { try await knownActions(within: timeout) }
        } catch is CancellationError {
            let cause = timeout.map { "no answer within \($0)" } ?? "interrupted"
            throw CommandFailure.failed(
                "\(cause): no primary answered at \(upstream.endpoint); check that statecast-primary runs there"
            )
        }
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

    private func knownActions(within timeout: Duration?) async throws -> [ActionDescription] {
        try await withThrowingTaskGroup(of: [ActionDescription].self) { group in
            group.addTask { try await sender.actions() }
            if let timeout {
                group.addTask {
                    try await Task.sleep(for: timeout)
                    throw CancellationError()
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }
}
