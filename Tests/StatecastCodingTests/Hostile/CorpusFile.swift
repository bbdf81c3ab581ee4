import Foundation
import StatecastCoding
import Testing

/// A stored input with its expected outcome: `Corpus/<kind>/<description>.<outcome>.hex`.
///
/// The text consists of hexadecimal digits and `"ASCII"`, in pieces separated by spaces. A suffix `*n` repeats a piece
/// or a group in parentheses n times. `#` starts a comment. The outcome is `accepted` or the code of the failure.
struct CorpusFile: Sendable, CustomTestStringConvertible {
    enum Kind: String, CaseIterable { case decoder, patch, json }

    let kind: Kind
    let name: String
    let outcome: String
    let bytes: [UInt8]

    var testDescription: String { "\(kind)/\(name)" }

    static func all(_ kind: Kind) -> [CorpusFile] { everything[kind] ?? [] }

    private static let everything = Dictionary(uniqueKeysWithValues: Kind.allCases.map { ($0, read($0)) })

    private static func read(_ kind: Kind, here: String = #filePath) -> [CorpusFile] {
        let folder = URL(filePath: here).deletingLastPathComponent().appending(path: "Corpus/\(kind)")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return names.sorted().compactMap { file in
            guard let text = try? String(contentsOf: folder.appending(path: file), encoding: .utf8) else { return nil }
            let parts = file.split(separator: ".")
            guard parts.count >= 3, parts.last == "hex" else { return nil }
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            var notation = Notation(rest: lines.joined(separator: " ")[...])
            return CorpusFile(
                kind: kind,
                name: parts.dropLast(2).joined(separator: "."),
                outcome: String(parts[parts.count - 2]),
                bytes: notation.pieces()
            )
        }
    }
}

/// Parses the notation of the corpus.
private struct Notation {
    var rest: Substring

    mutating func pieces() -> [UInt8] {
        var result: [UInt8] = []
        while let next = rest.first, next != ")" {
            rest = rest.drop { $0 == " " }
            if rest.first == nil || rest.first == ")" { break }
            let piece = piece()
            for _ in 0..<times() { result += piece }
        }
        return result
    }

    private mutating func piece() -> [UInt8] {
        switch rest.removeFirst() {
        case "(":
            let group = pieces()
            _ = rest.popFirst()
            return group
        case "\"":
            let text = rest.prefix { $0 != "\"" }
            rest = rest[text.endIndex...].dropFirst()
            return Array(text.utf8)
        case let first:
            let digits = rest.prefix(while: \.isHexDigit)
            rest = rest[digits.endIndex...]
            return StatecastCodingTests.bytes(String(first) + digits)
        }
    }

    private mutating func times() -> Int {
        guard rest.first == "*" else { return 1 }
        let digits = rest.dropFirst().prefix(while: \.isNumber)
        rest = rest[digits.endIndex...]
        return Int(digits) ?? 0
    }
}
