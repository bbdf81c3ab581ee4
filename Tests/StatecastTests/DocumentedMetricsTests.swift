import Foundation
import Testing

@Suite struct DocumentedMetricsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL

    /// The labels in the sources of a role, most of which are written without the role's prefix.
    private func labels(of role: String, in folder: String) throws -> Set<String> {
        let folder = Self.root.appending(path: "Sources/Statecast/\(folder)")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let prefix = "statecast_\(role)_"
        var labels: Set<String> = []
        for case let file as URL in try #require(files) where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /"([a-z_]+_(?:total|actions|bytes|steps|records|revisions|time|waiting))"/) {
                labels.insert(match.1.hasPrefix(prefix) ? String(match.1) : prefix + match.1)
            }
        }
        return labels
    }

    @Test func `the metrics that are documented are those that exist`() throws {
        let text = try String(contentsOf: Self.root.appending(path: "docs/OPERATING.md"), encoding: .utf8)
        let documented = Set(text.matches(of: /\| `(statecast_[a-z_]+)` \|/).map { String($0.1) })
        let roles = [
            ("primary", "Primary"), ("journal", "Journaling"), ("replica", "Replica"), ("sender", "Sender"),
        ]
        let existing = try roles.reduce(into: Set<String>()) { $0.formUnion(try labels(of: $1.0, in: $1.1)) }
        #expect(documented == existing)
        #expect(documented.count > 30)
    }
}
