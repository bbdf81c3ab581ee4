import Foundation
import Statecast
import Testing

/// The program in Examples/CounterService, as a supervisor runs it.
@Suite(.timeLimit(.minutes(10))) struct `A program in runUntilSignal` {
    private static let runner = Tool(name: "/usr/bin/env")

    private static func arguments(
        journal: String,
        publish: String = anyPort,
        actions: String = anyPort
    ) -> [String] {
        let program = Tool(name: "counter-service").location
        return ["COUNTER_JOURNAL=\(journal)", "COUNTER_PUBLISH=\(publish)", "COUNTER_ACTIONS=\(actions)", program]
    }

    @Test
    func `A program in runUntilSignal ends with 0 on a signal, and continues after that or a kill`() async throws {
        let folder = try Folder()
        let publish = "ipc://\(folder.path)/publish"
        let arguments = Self.arguments(
            journal: folder.path + "/journal",
            publish: publish,
            actions: "ipc://\(folder.path)/actions"
        )
        let signals = [SIGKILL, SIGTERM, SIGKILL, SIGINT, SIGHUP]
        for (count, signal) in signals.enumerated() {
            let (_, ending) = try await Self.runner.running(arguments) { program in
                let sent = try await Tool.send.run(
                    ["--from", publish, "--store", "counter", "--wait", "--json", "CounterIncreaseRequested"]
                )
                #expect(sent.exitCode == 0, "\(sent.errors)")
                #expect(sent.output == [#"{"number":1,"status":"applied","revision":\#(count + 1)}"#])
                program.send(signal)
                for await _ in program.lines {}
            }
            if signal == SIGKILL {
                #expect(ending.signal == SIGKILL, "\(ending)")
            } else {
                #expect(ending.exitCode == 0, "\(ending)")
                #expect(ending.errors.contains("stopped"), "\(ending)")
            }
            #expect(!ending.errors.contains("Error:"), "\(ending)")
        }
        let state = try await Tool.journal.run(["state", folder.path + "/journal"])
        #expect(state.output == [#"{"revision":\#(signals.count),"state":{"counter":\#(signals.count)}}"#])
    }

    @Test
    func `A program in runUntilSignal that cannot start ends with one line and its cause's exit code`() async throws {
        let folder = try Folder()
        let (own, other) = (folder.path + "/own", folder.path + "/other")
        try await withServed(["--journal", other, "--store", "meter"]) { served in
            let causes: [(arguments: [String], exitCode: Int32, message: String)] = [
                (Self.arguments(journal: own, publish: served.publish), 1, "cannot bind to \(served.publish)"),
                (Self.arguments(journal: own, actions: "7101"), 64, #""7101" is no endpoint"#),
                (Self.arguments(journal: other), 1, "is in use by process"),
                (
                    Self.arguments(journal: own, publish: "tcp://0.0.0.0:*"), 64,
                    "tcp://0.0.0.0:* is not on this machine"
                ),
            ]
            for cause in causes { try await Self.expectFailure(cause.arguments, cause.exitCode, cause.message) }
        }
        try await Self.expectFailure(Self.arguments(journal: other), 78, #"holds the store "meter""#)
        try FileManager.default.removeItem(atPath: own + "/marks")
        try await Self.expectFailure(Self.arguments(journal: own), 65, "is damaged")
    }

    @Test
    func `A program in runUntilSignal that ignores cancellation says so, and ends on another signal`() async throws {
        // Its log comes with its output, to wait for the lines.
        let command = ["-c", #"exec "$0" deaf 2>&1"#, Tool.poison.location]
        let (_, ending) = try await Tool(name: "/bin/sh").running(command) { program in
            _ = try await program.line { $0 == "ready" }
            program.send(SIGINT)
            _ = try await program.line { $0.contains("asked to stop, waiting for the work to end") }
            // Does nothing before the work was cancelled in vain.
            program.send(SIGINT)
            _ = try await program.line { $0.contains("another signal ends the process at once") }
            program.send(SIGINT)
            for await _ in program.lines {}
        }
        #expect(ending.exitCode == 128 + SIGINT, "\(ending)")
    }

    @Test func `A program in runUntilSignal shows failures that Foundation describes`() {
        let failures: [any Error] = [Rejection(.refused, "not now"), StatecastError(.closed, "it has ended")]
        #expect(failures.map(\.localizedDescription) == ["refused: not now", "it has ended"])
    }

    @Test func `A program in runUntilSignal that fails with a rejection ends as the executables do`() async throws {
        let ending = try await Tool.poison.run(["refused"])
        #expect(ending.exitCode == 2 && ending.errors == "Error: refused: not now\n", "\(ending)")
    }

    private static func expectFailure(_ arguments: [String], _ exitCode: Int32, _ message: String) async throws {
        let ending = try await runner.run(arguments)
        #expect(ending.exitCode == exitCode, "\(ending)")
        let lines = ending.errors.split(separator: "\n")
        #expect(lines.count == 1, "\(ending)")
        #expect(lines.first?.hasPrefix("Error: ") == true && lines.first?.contains(message) == true, "\(ending)")
    }
}
