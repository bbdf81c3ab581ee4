internal import StateCoding
internal import StateJSON

/// Any state as an indented tree.
package struct TreePicture: Picture {
    package init() {}

    package func lines(of state: FollowedState, columns: Int, rows: Int?) -> [String] {
        var lines = [VisibleText.line(state.title)]
        guard let part = state.part else { return lines }
        lines.append("")
        let room = rows.map { max(1, $0 - lines.count) } ?? .max
        var tree = TreeText(linesMax: room)
        tree.append(part)
        lines += tree.lines
        if tree.isCut { lines[lines.count - 1] = "…" }
        return lines.map { $0.count > columns ? $0.prefix(max(0, columns - 1)) + "…" : $0 }
    }
}

/// A value as an indented tree of at most ``linesMax`` lines.
///
/// ```text
/// counter: 7
/// hosts:
///   web-1:
///     load1: 0.42
/// notes: []
/// ```
struct TreeText {
    private(set) var lines: [String] = []
    /// Whether the tree has more lines than fit.
    private(set) var isCut = false
    private let linesMax: Int

    init(linesMax: Int) { self.linesMax = linesMax }

    /// Appends the root value.
    mutating func append(_ value: Value) {
        if Self.children(of: value).isEmpty {
            add(Self.leaf(value))
        } else {
            append(childrenOf: value, depth: 0)
        }
    }

    private mutating func append(childrenOf value: Value, depth: Int) {
        let indentation = String(repeating: "  ", count: depth)
        for (label, child) in Self.children(of: value) {
            // Stops early: a state may have a hundred thousand rows, a screen has fifty.
            guard !isCut else { return }
            if Self.children(of: child).isEmpty {
                add(indentation + label + ": " + Self.leaf(child))
            } else {
                add(indentation + label + ":")
                append(childrenOf: child, depth: depth + 1)
            }
        }
    }

    private mutating func add(_ line: String) {
        guard lines.count < linesMax else {
            isCut = true
            return
        }
        lines.append(VisibleText.line(line))
    }

    /// A lazy view, so that `isEmpty` costs nothing.
    private static func children(of value: Value) -> AnyCollection<(String, Value)> {
        switch PlainForm(value) {
        case .map(let map): AnyCollection(map.lazy.map { ($0.key.keyName, $0.value) })
        case .array(let array): AnyCollection(array.enumerated().lazy.map { ("\($0.offset)", $0.element) })
        default: AnyCollection([])
        }
    }

    /// A text without its quotes, unless it would then read as another JSON value.
    private static func leaf(_ value: Value) -> String {
        guard case .text(let text) = value, !text.isEmpty, (try? JSON.value(parsing: text)) == nil else {
            return JSON.text(of: value)
        }
        return text
    }
}
