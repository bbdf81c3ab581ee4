import Foundation
import Testing

/// What the README shows is what happens.
@Suite(.timeLimit(.minutes(10))) struct ReadmeTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The first block of a language in the README.
    private static func block(_ language: String) throws -> String {
        let parts = try text("README.md").components(separatedBy: "```\(language)\n")
        let block = try #require(parts.dropFirst().first?.components(separatedBy: "```\n").first)
        return block
    }

    @Test func `the example is the one that is built, and prints what it should`() async throws {
        #expect(try Self.block("swift") == Self.text("Examples/Counter/main.swift"))
        let ending = try await Tool(name: "counter-example").run([])
        #expect(ending.exitCode == 0, "\(ending.errors)")
        #expect(ending.output == ["revision 2: Counter(counter: 7, step: 7)"])
    }

    @Test func `the commands print what stands below them`() async throws {
        let block = try Self.block("console")
        let lines = block.split(separator: "\n").map(String.init)
        let ready = try #require(lines.first { $0.hasPrefix("ready ") })
        try await withServed { served in
            #expect(
                ready.replacing("tcp://127.0.0.1:7100", with: served.publish)
                    .replacing("tcp://127.0.0.1:7101", with: served.actions)
                    == "ready store=\(served.store) epoch=1 revision=0 publish=\(served.publish) actions=\(served.actions)"
            )
            var commands: [(command: String, output: [String])] = []
            for line in lines.drop(while: { $0 != ready }).dropFirst() {
                if line.hasPrefix("$ ") {
                    commands.append((String(line.dropFirst(2)), []))
                } else {
                    commands[commands.count - 1].output.append(line)
                }
            }
            #expect(commands.count == 5)
            for (command, output) in commands {
                let ending = try await Tool.shell(command, from: served.publish)
                #expect(ending.output.elementsEqual(output, by: matches), "\(command): \(ending)")
            }
        }
    }
}
