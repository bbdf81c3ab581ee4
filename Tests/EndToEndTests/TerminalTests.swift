import Foundation
import Testing

#if os(Linux)
    /// The picture of statecast-replica in a terminal.
    @Suite(.timeLimit(.minutes(10)), .enabled(if: TerminalWindow.isAvailable)) struct TerminalPictureTests {
        private static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
        private static let leave = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

        private static func note(_ text: String, to served: Served) async throws {
            let sent = try await Tool.send.run(served.upstream + ["NoteAdded", #"{"text":"\#(text)"}"#])
            #expect(sent.exitCode == 0, "\(sent)")
        }

        @Test(arguments: ["fleet", "counter"])
        func `Ctrl-Z returns to the shell's screen, and fg to the picture`(app: String) async throws {
            try await withServed(app: app) { served in
                try await TerminalWindow.with(served) { window in
                    try await window.type("statecast-replica --store \(app)\n")
                    try await window.line(with: "revision 0, live")
                    #expect(try await window.settings().isSuperset(of: ["-icanon", "-echo"]))
                    try await window.type("\u{1A}")
                    let stopping = try await window.lines(to: "Stopped").joined(separator: "\n")
                    #expect(stopping.contains(Self.leave), "\(stopping)")
                    #expect(!stopping.contains(Self.enter), "\(stopping)")
                    // Bash has a mode of its own while it reads.
                    try await window.type("stty -a; fg\n")
                    let settings = try await window.lines(to: " icanon").joined(separator: "\n")
                    #expect(!settings.contains("-icanon") && !settings.contains("-echo "), "\(settings)")
                    let continued = try await window.lines(to: "revision 0, live").joined(separator: "\n")
                    #expect(continued.contains(Self.enter), "\(continued)")
                    #expect(try await window.settings().isSuperset(of: ["-icanon", "-echo"]))
                    try await window.type("q")
                    let left = try await window.lines(to: "prompt$").joined(separator: "\n")
                    #expect(left.contains(Self.leave), "\(left)")
                    try await window.type("echo code=$?; stty -a\n")
                    let ended = try await window.lines(to: " icanon").joined(separator: "\n")
                    #expect(ended.contains("code=0"), "\(ended)")
                    #expect(!ended.contains("-echo "), "\(ended)")
                }
            }
        }

        @Test func `a picture in the background draws nothing, and goes on with its keys after fg`() async throws {
            try await withServed { served in
                try await TerminalWindow.with(served) { window in
                    // Returns once the picture's process knows the revision, too, unless it is slower.
                    func increase(until revision: Int) async throws {
                        let sent = try await Tool.send.run(served.upstream + ["CounterIncreaseRequested"])
                        #expect(sent.exitCode == 0, "\(sent)")
                        try await window.type(
                            "statecast-replica --store counter --until \(revision) > /dev/null; jobs\n"
                        )
                    }
                    try await window.type("statecast-replica --store counter &\n")
                    try await increase(until: 1)
                    var shell = try await window.lines(to: "Running").joined(separator: "\n")
                    #expect(try await window.settings().isSuperset(of: ["icanon", "echo"]))
                    try await window.type("fg\n")
                    shell += try await window.lines(to: "fg").joined(separator: "\n")
                    #expect(!shell.contains(Self.enter), "\(shell)")
                    try await window.line(with: "revision 1, live")
                    try await window.type("\u{1A}")
                    try await window.line(with: "Stopped")
                    try await window.type("bg\n")
                    try await increase(until: 2)
                    shell = try await window.lines(to: "Running").joined(separator: "\n")
                    try await window.type("fg\n")
                    shell += try await window.lines(to: "fg").joined(separator: "\n")
                    #expect(!shell.contains(Self.enter) && !shell.contains("revision"), "\(shell)")
                    try await window.line(with: "revision 2, live")
                    try await window.type("q")
                    try await window.line(with: "prompt$")
                    try await window.type("echo code=$?\n")
                    try await window.line(with: "code=0")
                }
            }
        }

        @Test func `a picture shows the last log line, such as that nothing answers`() async throws {
            try await withServed { served in
                try await TerminalWindow.with(served) { window in
                    try await window.type("statecast-replica --store counter --from ipc:///nonexistent/publish\n")
                    try await window.line(with: "notice: waiting for the")
                    try await window.line(with: "q quits")
                    try await window.type("q")
                    try await window.line(with: "prompt$")
                    try await window.type("statecast-replica --store counter --select countr\n")
                    try await window.line(with: "did you mean")
                    try await window.line(with: "q quits")
                    try await window.type("q")
                    try await window.line(with: "prompt$")
                }
            }
        }

        @Test func `a picture shows the first line of a notice when its file appears, and the next one`() async throws {
            let folder = try Folder()
            try await withServed { served in
                try await TerminalWindow.with(served) { window in
                    try await window.type("statecast-replica --store counter --notice \(folder.path)/notice\n")
                    try await window.line(with: "revision 0, live")
                    for text in ["building", "http://127.0.0.1:7190/"] {
                        let content = "\(text)\nanother line\n"
                        try content.write(toFile: folder.path + "/notice", atomically: true, encoding: .utf8)
                        try await window.line(with: text)
                    }
                    let rest = try await window.lines(to: "q quits").joined(separator: "\n")
                    #expect(!rest.contains("building") && !rest.contains("another line"), "\(rest)")
                    try await window.type("q")
                    try await window.line(with: "prompt$")
                }
            }
        }

        @Test func `a picture follows the size of its window, scrolls, and marks what changed`() async throws {
            try await withServed(["--store", "notes"], app: "fleet") { served in
                for number in 1...20 { try await Self.note("東京の新しいディスク、東京の新しいディスク \(number)", to: served) }
                try await TerminalWindow.with(served) { window in
                    try await window.type("statecast-replica --store notes\n")
                    try await window.line(with: "revision 20, live")
                    try await window.line(with: "hosts: {}")
                    // In the status line, which the next screen ends.
                    try await window.line(with: "q quits")
                    try await window.type("\u{1B}[F")
                    try await window.line(with: "from line")
                    let bottom = try await window.lines(to: "q quits").joined(separator: "\n")
                    #expect(!bottom.contains("hosts: {}") && bottom.contains("19:"), "\(bottom)")
                    try await Self.note("a change", to: served)
                    try await window.line(with: "* ")
                    try await window.type("g")
                    try await window.line(with: "hosts: {}")
                    try await window.resize(columns: 30, rows: 30)
                    try await window.line(with: "text: 東京の新しいディ…")
                    try await window.type("q")
                    try await window.line(with: "prompt$")
                    try await window.type("echo code=$?\n")
                    try await window.line(with: "code=0")
                }
            }
        }
    }
#endif
