import Foundation
import Testing

/// What the tutorial shows is what is built and run here.
@Suite struct DocumentTests {
    @Test func `the blocks of the tutorial are these files`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let document = folder.appending(path: "../../docs/TUTORIAL.md").standardizedFileURL
        let text = try String(contentsOf: document, encoding: .utf8)
        var blocks: [String: [String]] = [:]
        for match in text.matches(of: /`(\w+\.swift)`\n```swift\n([\S\s]*?)```\n/) {
            blocks[String(match.1), default: []].append(String(match.2))
        }
        #expect(text.ranges(of: "```swift").count == blocks.values.joined().count, "a block names no file")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") && $0 != "DocumentTests.swift" }
        #expect(Set(blocks.keys) == Set(names))
        for name in names {
            let file = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            #expect(blocks[name]?.joined(separator: "\n") == file, "\(name) differs from docs/TUTORIAL.md")
        }
    }
}
