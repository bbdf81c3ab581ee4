/// Renders a state for a terminal.
package protocol Picture: Sendable {
    /// The state line by line, below its title. ``LivePicture`` drops the lines that do not fit.
    ///
    /// - Parameter rows: the height of the screen; `nil`: unlimited.
    func lines(of state: FollowedState, columns: Int, rows: Int?) -> [String]
}

/// The states that a ``LivePicture`` draws.
package enum DrawMode: Sendable {
    /// Every state, on a controllable terminal.
    case live
    /// The last state alone, like any other output.
    case last
}

/// A picture on a terminal, drawn again whenever the state, its status or the time changes it.
package struct LivePicture<Content: Picture>: StateDisplay {
    private let content: Content
    private let output: LineOutput
    private let mode: DrawMode
    private let showsUnicode = Terminal.showsUnicode
    private var isEntered = false

    package init(_ content: Content, on output: LineOutput, mode: DrawMode) {
        self.content = content
        self.output = output
        self.mode = mode
    }

    /// Once a second: a host falls silent without an action, and a window changes its size.
    package var interval: Duration? { mode == .live ? .seconds(1) : nil }

    /// Draws the state; the last one so that it remains on the terminal.
    package mutating func show(_ state: FollowedState, isNew: Bool, isLast: Bool) async throws {
        let size = Terminal.size
        if isLast {
            close()
            let lines = lines(of: state, columns: size.columns, rows: nil)
            try await output.write(lines.joined(separator: "\n"))
        } else if mode == .live {
            if !isEntered {
                isEntered = true
                try await output.write(raw: ScreenCodes.enter)
            }
            let lines = lines(of: state, columns: size.columns, rows: size.rows)
            try await output.write(raw: ScreenCodes.frame(lines.prefix(size.rows)))
        }
    }

    private func lines(of state: FollowedState, columns: Int, rows: Int?) -> [String] {
        let lines = content.lines(of: state, columns: columns, rows: rows)
        return showsUnicode ? lines : lines.map(PlainText.line)
    }

    /// Restores the terminal.
    package mutating func close() {
        guard isEntered else { return }
        isEntered = false
        // Synchronous, because a cancelled task cannot wait for an asynchronous write.
        try? LineOutput.writeNow(Array(ScreenCodes.leave.utf8))
    }
}
