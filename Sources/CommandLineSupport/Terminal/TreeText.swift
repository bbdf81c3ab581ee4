internal import StateCoding
internal import StateJSON

/// A value as an indented tree, as far as it fits.
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
    /// Whether there was more than fits.
    private(set) var isCut = false
    private let linesMax: Int

    init(linesMax: Int) { self.linesMax = linesMax }

    /// Adds a value that stands for itself.
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
            // What does not fit is not looked at: a state may have a hundred thousand rows, a screen has fifty.
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

    /// A lazy view, so that asking whether there are any costs nothing.
    private static func children(of value: Value) -> AnyCollection<(String, Value)> {
        switch PlainForm(value) {
        case .map(let map): AnyCollection(map.lazy.map { ($0.key.keyName, $0.value) })
        case .array(let array): AnyCollection(array.enumerated().lazy.map { ("\($0.offset)", $0.element) })
        default: AnyCollection([])
        }
    }

    /// A text without its quotes, unless that could be taken for something else.
    private static func leaf(_ value: Value) -> String {
        guard case .text(let text) = value, !text.isEmpty, (try? JSON.value(parsing: text)) == nil else {
            return JSON.text(of: value)
        }
        return text
    }
}
