#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Tag 32 of the text.
///
/// A URL that is relative to another one differs, by its `==`, from the absolute one that both make; it is a map of the
/// two texts, under the keys that its own coding uses.
extension URL: TagReader {
    private static let (base, relative) = ("base", "relative")

    var tree: Value {
        guard let baseURL else { return Self.tree(relativeString) }
        return [.text(Self.base): Self.tree(baseURL.absoluteString), .text(Self.relative): .text(relativeString)]
    }

    private static func tree(_ text: String) -> Value { .tagged(Value.uriTag, .text(text)) }

    init?(tree: Value) {
        switch tree {
        case .text(let text): self.init(string: text)
        case .tagged(_, let content): self.init(tree: content)
        case .map:
            guard let text = tree[Self.relative]?.untagged.textValue else { return nil }
            guard let base = tree[Self.base] else {
                self.init(string: text)
                return
            }
            guard let baseURL = URL(tree: base) else { return nil }
            self.init(string: text, relativeTo: baseURL)
        default: return nil
        }
    }

    static func readUsual(_ cursor: inout ItemCursor) -> URL? {
        var next = cursor
        next.skipTag(Value.uriTag)
        guard let url = next.takeText().flatMap({ URL(string: $0) }) else { return nil }
        cursor = next
        return url
    }

    static var sample: URL { URL(filePath: "/") }
    static var expected: String { "a URL as text" }
}
