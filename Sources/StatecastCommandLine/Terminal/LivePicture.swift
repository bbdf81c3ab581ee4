import StatecastTerminal
import StatecastThreading

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Renders a state for a terminal.
package protocol Picture: Sendable {
    /// What single keys choose, such as an order.
    var keys: [PictureFrame.Choice] { get }
    /// The picture of a state, or the part of it that the frame shows.
    ///
    /// - Parameter earlier: a state that was shown before, to mark what has changed since; `nil` marks nothing.
    func page(of state: FollowedState, since earlier: FollowedState?, in frame: PictureFrame) -> PicturePage
}

extension Picture {
    package var keys: [PictureFrame.Choice] { [] }
}

/// The part of a screen for a picture.
package struct PictureFrame: Sendable, Equatable {
    /// A key of a picture's own, and what it chooses.
    package struct Choice: Sendable {
        let key: Character
        let name: String

        package init(key: Character, name: String) { (self.key, self.name) = (key, name) }
    }

    /// The most columns of a line.
    package let columns: Int
    /// The most lines; `nil`: unlimited.
    package let rows: Int?
    /// The first line below the picture's headings to show. A picture that ends before shows its last lines.
    package let first: Int
    /// The last of the picture's own keys; `nil` before the first one.
    package let choice: Character?

    package init(columns: Int, rows: Int?, first: Int = 0, choice: Character? = nil) {
        (self.columns, self.rows, self.first, self.choice) = (columns, rows, first, choice)
    }
}

/// The lines of a picture in a frame.
package struct PicturePage: Sendable, Equatable {
    /// A line of a picture.
    package struct Line: Sendable, Equatable {
        package let text: String
        /// Whether its content has changed.
        package let isChanged: Bool

        package init(_ text: String, isChanged: Bool = false) { (self.text, self.isChanged) = (text, isChanged) }
    }

    package var lines: [Line]
    /// The first line below the headings that is shown.
    package let first: Int

    package init(_ lines: [Line], first: Int = 0) { (self.lines, self.first) = (lines, first) }
}

/// The states that a display shows.
package enum DrawMode: Sendable {
    /// Every state; of a picture, on a controllable terminal.
    case live
    /// The last state alone, like any other output.
    case last
}

/// A picture on a terminal, drawn again whenever the state, its status, the time, a key or the window changes it.
package actor LivePicture<Content: Picture>: StateDisplay {
    private let content: Content
    private let output: LineOutput
    private let mode: DrawMode
    private let notice: NoticeFile?
    private let showsUnicode = Terminal.showsUnicode
    private var isEntered = false
    /// Whether the process is about to stop, or stopped: the terminal is the shell's.
    private var isStopping = false
    private var keyMode: KeyMode?
    /// An element each time that the picture enters the screen, and may read keys.
    private let entries = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private var shown: FollowedState?
    /// The state since which changes are marked, and the time at which it became that.
    private var marked: (state: FollowedState, at: ContinuousClock.Instant)?
    private var first = 0
    private var choice: Character?
    private var noticeLine: String?

    /// - Parameter notice: its first line is shown above the last log line.
    package init(_ content: Content, on output: LineOutput, mode: DrawMode, notice: NoticeFile? = nil) {
        self.content = content
        self.output = output
        self.mode = mode
        self.notice = notice
    }

    /// Once a second: a host falls silent without an action.
    package nonisolated var interval: Duration? { mode == .live ? .seconds(1) : nil }

    /// Obeys the keys and the signals of the terminal while the work shows states; then restores the terminal.
    package nonisolated func whileOpen(_ work: () async throws -> Void) async throws {
        guard mode == .live else { return try await work() }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { await TerminalSignals.forEach { await self.obey($0) } }
                group.addTask { await self.obeyKeys() }
                if let notice { group.addTask { await self.follow(notice) } }
                try await work()
            }
        } catch {
            await leave()
            throw error
        }
        await leave()
    }

    /// Draws the state; the last one so that it remains on the terminal.
    package func show(_ state: FollowedState, isNew: Bool, isLast: Bool) async throws {
        if isNew { mark(shown) }
        shown = state
        if isLast {
            leave()
            // A key or a signal must not draw it again.
            shown = nil
            let frame = PictureFrame(columns: Terminal.size.columns, rows: nil, choice: choice)
            let page = content.page(of: state, since: nil, in: frame)
            try await output.write(page.lines.map { plain($0.text) }.joined(separator: "\n"))
        } else if mode == .live {
            try await draw()
        }
    }

    /// Marks changes since the previous state, and keeps each mark for a second at least.
    private func mark(_ previous: FollowedState?) {
        let now = ContinuousClock.now
        guard let previous, previous.part != nil else { return }
        guard let marked, now < marked.at + .seconds(1) else { return marked = (previous, now) }
    }

    private func draw() async throws {
        // In the background, the terminal is the shell's. A shell that brings a running process to the foreground sends
        // it no signal.
        guard let shown, !isStopping, !Terminal.isInBackground else { return }
        var enter = ""
        if !isEntered {
            isEntered = true
            if keyMode?.resume() != true { keyMode = KeyMode() }
            entries.continuation.yield()
            enter = ScreenCodes.enter
        }
        // Together: after a pause in between, the screen might be the shell's.
        try await output.write(raw: enter + ScreenCodes.frame(frame(of: shown)))
    }

    /// Reads the notice once a second.
    private func follow(_ notice: NoticeFile) async {
        let queue = BlockingCallQueue("notice")
        repeat {
            let line = try? await queue.run { notice.line() }
            guard line != noticeLine else { continue }
            noticeLine = line
            try? await draw()
        } while (try? await Task.sleep(for: .seconds(1))) != nil
    }

    /// The lines of the screen: the picture with a margin for its marks, the notice, the last log line and, if there
    /// keys, a line that names them.
    private func frame(of state: FollowedState) -> [String] {
        let (columns, rows) = Terminal.size
        let help = keyMode == nil || rows < 3 ? 0 : 1
        let messages = [noticeLine, LineLogHandler.pictureLine.withLock(\.self)]
            .compactMap { $0.map { plain($0).wrapped(to: columns) } }.joined().prefix(max(0, rows - help - 3))
        let (margin, room) = (2, rows - help - messages.count)
        let frame = PictureFrame(columns: max(0, columns - margin), rows: room, first: first, choice: choice)
        let page = content.page(of: state, since: marked?.state, in: frame)
        first = page.first
        var lines = page.lines.prefix(room).map { line in
            line.isChanged ? styled("* " + plain(line.text), "\u{1B}[1m") : "  " + plain(line.text)
        }
        lines += messages
        if help > 0 {
            lines += Array(repeating: "", count: max(0, rows - help - lines.count))
            let position = first > 0 ? ", from line \(first + 1) on" : ""
            let own = content.keys.map { "\($0.key) \($0.name), " }.joined()
            lines.append(styled((own + PictureKey.help + position).padded(to: columns), "\u{1B}[7m"))
        }
        return lines
    }

    private func styled(_ line: String, _ code: String) -> String {
        Terminal.showsColour ? code + line + "\u{1B}[0m" : line
    }

    private func plain(_ line: String) -> String { showsUnicode ? line : PlainText.line(line) }

    // MARK: Keys and signals

    private func obeyKeys() async {
        let queue = BlockingCallQueue("keys")
        for await _ in entries.stream {
            keyMode = keyMode ?? KeyMode()
            while keyMode != nil, let chunk = try? await queue.run(InputLines.readChunk).get() {
                for key in PictureKey.keys(in: chunk) { await obey(key) }
            }
            // The end of the input, or the process is in the background.
            keyMode?.leave()
            keyMode = nil
        }
    }

    private func obey(_ key: PictureKey) async {
        let page = max(1, Terminal.size.rows - 4)
        switch key {
        case .up: first = max(0, first - 1)
        case .down: first += 1
        case .pageUp: first = max(0, first - page)
        case .pageDown: first += page
        case .home: first = 0
        // More than any picture has: the page says which line that is.
        case .end: first = .max / 2
        // Ends the command in the same way as Ctrl-C.
        case .quit: kill(getpid(), SIGINT)
        case .other(let key):
            guard content.keys.contains(where: { $0.key == key }) else { return }
            choice = key
        }
        try? await draw()
    }

    private func obey(_ signal: TerminalSignal) async {
        switch signal {
        case .stop: await stop()
        case .continue:
            // Another program may have used the screen: begin with what it left.
            await leaveScreen()
            try? await draw()
        case .resize: try? await draw()
        }
    }

    private func stop() async {
        isStopping = true
        // After the frames that are being written.
        await leaveScreen()
        keyMode?.leave()
        TerminalSignals.stop()
        isStopping = false
        try? await draw()
    }

    private func leaveScreen() async {
        guard isEntered else { return }
        isEntered = false
        try? await output.write(raw: ScreenCodes.leave)
    }

    /// Restores the terminal.
    private func leave() {
        // Synchronous, because a cancelled task cannot wait for an asynchronous write.
        if isEntered { try? LineOutput.writeNow(Array(ScreenCodes.leave.utf8)) }
        isEntered = false
        keyMode?.leave()
        keyMode = nil
    }
}
