import Foundation
import Testing

/// The marked blocks and the tables of `docs/PROTOCOL.md`.
struct ProtocolDocument {
    /// A fenced block whose first line has its kind and its name: ```` ```frame heartbeat ````.
    struct Block: Sendable, CustomTestStringConvertible {
        let kind: String
        let name: String
        /// The heading above it.
        let section: String
        let lines: [String]

        var testDescription: String { name }
    }

    private struct Table {
        let section: String
        let rows: [[String]]
    }

    let blocks: [Block]
    private let tables: [Table]

    static let shared = ProtocolDocument(file("docs/PROTOCOL.md"))

    /// A file of the repository; empty if it is missing, which makes the tests fail.
    static func file(_ path: String) -> String {
        let root = URL(filePath: #filePath).appending(path: "../../../../..").standardized
        return (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
    }

    init(_ text: String) {
        var blocks: [Block] = []
        var tables: [Table] = []
        var section = ""
        var open: (info: [String], lines: [String])?
        var rows: [[String]] = []
        for line in text.components(separatedBy: "\n") {
            if line.hasPrefix("```"), let (info, lines) = open {
                blocks.append(Block(kind: info.first ?? "", name: info.last ?? "", section: section, lines: lines))
                open = nil
            } else if line.hasPrefix("```") {
                open = (line.dropFirst(3).split(separator: " ").map(String.init), [])
            } else if open != nil {
                open?.lines.append(line)
            } else if line.hasPrefix("#") {
                section = line.drop { $0 == "#" || $0 == " " }.description
            } else if line.hasPrefix("|") {
                rows.append(line.dropFirst().dropLast().split(separator: "|").map(Self.cell))
            } else if !rows.isEmpty {
                tables.append(Table(section: section, rows: Array(rows.dropFirst(2))))
                rows = []
            }
        }
        self.blocks = blocks
        self.tables = tables
    }

    /// The text without code marks; a link is replaced by its text.
    private static func cell(_ text: Substring) -> String {
        text.replacing(#/\[([^\]]+)\]\(#[^)]*\)/#) { $0.1 }
            .replacingOccurrences(of: "`", with: "").trimmingCharacters(in: .whitespaces)
    }

    func blocks(_ kinds: String..., in section: String? = nil) -> [Block] {
        blocks.filter { kinds.contains($0.kind) && (section == nil || section == $0.section) }
    }

    /// The rows of a section's tables, without headings and code marks.
    func tables(in section: String) -> [[[String]]] { tables.filter { $0.section == section }.map(\.rows) }
}

extension ProtocolDocument.Block {
    /// The lines `label: text`, in order; an indented line continues the previous one.
    var entries: [(label: String, text: String)] {
        lines.reduce(into: []) { entries, line in
            if line.hasPrefix(" "), let last = entries.popLast() {
                entries.append((last.label, last.text + " " + line.trimmingCharacters(in: .whitespaces)))
            } else if let colon = line.firstIndex(of: ":") {
                let text = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                entries.append((String(line[..<colon]), text))
            }
        }
    }

    /// The text after a label; empty if the label is missing.
    func text(_ label: String) -> String { entries.first { $0.label == label }?.text ?? "" }

    /// The bytes of the `hex:` line.
    var bytes: [UInt8] { Self.bytes(text("hex")) }

    static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
