/// A picture on a terminal, drawn again whenever the state, its status or the time changes what it shows.
package struct LivePicture<Content: Picture>: StateDisplay {
    private let content: Content
    private let output: LineOutput
    private let isLive: Bool
    private let showsUnicode = Terminal.showsUnicode
    private var isEntered = false

    /// A display of pictures.
    ///
    /// - Parameter isLive: whether to follow, on a terminal that is controllable; otherwise the last state alone is drawn,
    ///   like any other output.
    package init(_ content: Content, on output: LineOutput, isLive: Bool) {
        self.content = content
        self.output = output
        self.isLive = isLive
    }

    /// Once a second: a machine falls silent without any action, and a window changes its size.
    package var interval: Duration? { isLive ? .seconds(1) : nil }

    /// Draws the state; the last one so that it stays.
    package mutating func show(_ state: FollowedState, isNew: Bool, isLast: Bool) async throws {
        let size = Terminal.size
        if isLast {
            close()
            let lines = lines(of: state, columns: size.columns, rows: nil)
            try await output.write(lines.joined(separator: "\n"))
        } else if isLive {
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

    /// Gives the terminal back as it was.
    package mutating func close() {
        guard isEntered else { return }
        isEntered = false
        // At once, and in the caller's thread: this is also the way out when the task is cancelled.
        LineOutput.writeNow(ScreenCodes.leave)
    }
}
