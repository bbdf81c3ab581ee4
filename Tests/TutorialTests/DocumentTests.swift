import Foundation
import Testing

/// The code blocks of the documents are files that are built and run.
@Suite struct DocumentTests {
    @Test func `the blocks of the documents equal these files`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        var blocks: [String: [String]] = [:]
        for document in ["TUTORIAL.md", "CODING.md", "EVOLUTION.md"] {
            let file = folder.appending(path: "../../docs/\(document)").standardizedFileURL
            let text = try String(contentsOf: file, encoding: .utf8)
            let matches = text.matches(of: /`(\w+\.swift)`\n```swift\n([\S\s]*?)```\n/)
            for match in matches { blocks[String(match.1), default: []].append(String(match.2)) }
            #expect(text.ranges(of: "```swift").count == matches.count, "a block of \(document) names no file")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") && !["ComingFromTests.swift", "DocumentTests.swift"].contains($0) }
        // It needs the trait SmartCopy, so another package builds it.
        let client = "Robot.swift"
        #expect(Set(blocks.keys) == Set(names + [client]))
        for name in names + [client] {
            let place = name == client ? "../Clients/WithSmartCopy/Sources/WithSmartCopy/\(name)" : name
            let file = try String(contentsOf: folder.appending(path: place), encoding: .utf8)
            #expect(blocks[name]?.joined(separator: "\n") == file, "\(name) differs from its document")
        }
    }
}
