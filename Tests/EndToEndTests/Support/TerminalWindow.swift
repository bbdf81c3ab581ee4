#if os(Linux)
    import Foundation
    import Testing

    /// An interactive shell in a window of its own, a pseudo-terminal of script(1), with job control.
    final class TerminalWindow: Sendable {
        private let shell: RunningTool
        /// The path of the terminal.
        let path: String

        static let isAvailable = ["/usr/bin/script", "/bin/bash"].allSatisfy(FileManager.default.isExecutableFile)

        /// Runs the body beside a shell that finds the tools by name, and the primary at an endpoint.
        static func with(_ served: Served, _ body: @Sendable (TerminalWindow) async throws -> Void) async throws {
            let tools = URL(filePath: Tool.replica.location).deletingLastPathComponent().path
            // The prompt is a whole line, which reading by lines finds.
            let environment =
                #"PATH='\#(tools):'"$PATH" PS1='prompt$\n' TERM=xterm LC_ALL=C.UTF-8"#
                + " STATECAST_FROM=\(served.publish)"
            let shell = "env \(environment) bash --norc --noprofile --noediting -i"
            let command = ["--quiet", "--flush", "--return", "--command", shell, "/dev/null"]
            try await Tool(name: "/usr/bin/script").runningValue(command) { tool in
                try await body(try await TerminalWindow(tool))
                try await tool.write("exit\n")
            }
        }

        private init(_ shell: RunningTool) async throws {
            self.shell = shell
            try await shell.write("stty cols 60 rows 12; echo window=$(tty)\n")
            let line = try await shell.line { $0.contains("window=/dev/") }
            let name = try #require(line.split(separator: "window=").last)
            path = name.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        /// Presses keys.
        func type(_ keys: String) async throws { try await shell.write(keys) }

        /// Waits for a line that contains the text. The last line of a screen, which has no end, comes with the next
        /// screen.
        @discardableResult
        func line(with text: String) async throws -> String { try await shell.line { $0.contains(text) } }

        /// The lines up to one that contains the text.
        func lines(to text: String) async throws -> [String] {
            var lines: [String] = []
            _ = try await shell.line { line in
                lines.append(line)
                return line.contains(text)
            }
            return lines
        }

        func resize(columns: Int, rows: Int) async throws {
            let size = ["-F", path, "cols", "\(columns)", "rows", "\(rows)"]
            let ending = try await Tool(name: "/usr/bin/stty").run(size)
            #expect(ending.exitCode == 0, "\(ending)")
        }

        /// The settings of the terminal, such as `echo` and `-icanon`.
        func settings() async throws -> Set<String> {
            let ending = try await Tool(name: "/usr/bin/stty").run(["-F", path, "-a"])
            return Set(ending.output.flatMap { $0.split(separator: " ").map(String.init) })
        }
    }
#endif
