import Foundation
import Testing

/// The examples in the README.
@Suite(.timeLimit(.minutes(10))) struct ReadmeTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// A block of a language in the README, by default the first one.
    private static func block(_ language: String, after others: Int = 0) throws -> String {
        let parts = try text("README.md").components(separatedBy: "```\(language)\n")
        return try #require(parts.dropFirst(1 + others).first?.components(separatedBy: "```\n").first)
    }

    @Test func `the manifest is valid, and names existing products`() async throws {
        let folder = try Folder()
        let manifest = try Self.block("swift", after: 1)
        try manifest.write(toFile: folder.path + "/Package.swift", atomically: true, encoding: .utf8)
        try FileManager.default.createDirectory(
            atPath: folder.path + "/Sources/meter",
            withIntermediateDirectories: true
        )
        let ending = try await Tool.shell("swift package --package-path \(folder.path) dump-package", from: anyPort)
        #expect(ending.exitCode == 0, "\(ending.errors)")
        let own = try Self.text("Package.swift")
        for product in manifest.components(separatedBy: ".product(name: \"").dropFirst() {
            let name = try #require(product.components(separatedBy: "\"").first)
            #expect(own.contains(".library(name: \"\(name)\""), "\(name)")
        }
        #expect(manifest.contains(".package(url:"))
    }

    @Test func `the example is the one in Examples, and prints its result`() async throws {
        #expect(try Self.block("swift") == Self.text("Examples/Counter/main.swift"))
        let ending = try await Tool(name: "counter-example").run([])
        #expect(ending.exitCode == 0, "\(ending.errors)")
        #expect(ending.output == ["revision 2: Counter(counter: 7, step: 7)"])
    }

    @Test func `the commands print the output below them`() async throws {
        let block = try Self.block("console")
        let lines = block.split(separator: "\n").map(String.init)
        let ready = try #require(lines.first { $0.hasPrefix("ready ") })
        try await withServed { served in
            let endpoints = "publish=\(served.publish) actions=\(served.actions)"
            #expect(
                ready.replacing("tcp://127.0.0.1:7100", with: served.publish)
                    .replacing("tcp://127.0.0.1:7101", with: served.actions)
                    == "ready store=\(served.store) epoch=1 revision=0 \(endpoints)"
            )
            var commands: [(command: String, output: [String])] = []
            for line in lines.drop(while: { $0 != ready }).dropFirst() {
                if line.hasPrefix("$ ") {
                    commands.append((String(line.dropFirst(2)), []))
                } else {
                    commands[commands.count - 1].output.append(line)
                }
            }
            #expect(commands.count == 6)
            for (command, output) in commands {
                let ending = try await Tool.shell(command, from: served.publish)
                #expect(ending.output.elementsEqual(output, by: matches), "\(command): \(ending)")
            }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct ManifestTests {
    @Test(arguments: ["StatecastCore,Nonsense", "Nonsense"])
    func `STATECAST_TARGETS refuses a target that does not exist`(targets: String) async throws {
        let folder = try Folder()
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        // A folder of its own: the build of these tests may hold the lock of the default one.
        let options = "--package-path \(root.path) --scratch-path \(folder.path)"
        let ending = try await Tool.shell(
            "STATECAST_TARGETS=\(targets) swift package \(options) dump-package",
            from: anyPort
        )
        #expect(ending.exitCode != 0)
        #expect(ending.errors.contains("STATECAST_TARGETS: there is no target Nonsense"), "\(ending.errors)")
    }
}

/// Whether a line matches a pattern with `...` for the parts that differ from run to run.
func matches(_ line: String, _ shown: String) -> Bool {
    let parts = shown.components(separatedBy: "...")
    guard let first = parts.first, let last = parts.last, parts.count > 1 else { return line == shown }
    var rest = line[...]
    guard rest.hasPrefix(first), rest.hasSuffix(last) else { return false }
    for part in parts where !part.isEmpty {
        guard let range = rest.range(of: part) else { return false }
        rest = rest[range.upperBound...]
    }
    return true
}
