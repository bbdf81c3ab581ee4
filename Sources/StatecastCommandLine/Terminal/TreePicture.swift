import StatecastCoding
import StatecastJSON
import StatecastTerminal

/// Any state as an indented tree.
package struct TreePicture: Picture {
    package init() {}

    package func page(of state: FollowedState, since earlier: FollowedState?, in frame: PictureFrame) -> PicturePage {
        let title = PicturePage.Line(VisibleText.line(state.title).clipped(to: frame.columns))
        guard let part = state.part else { return PicturePage([title]) }
        let headings = [title, PicturePage.Line("")]
        let room = frame.rows.map { max(1, $0 - headings.count) } ?? .max
        var tree = TreeText(first: frame.first, maxLines: room)
        tree.append(part, since: earlier?.part)
        if tree.lines.count < room, frame.first > 0 {
            // It ends before the frame is full: show its last lines.
            tree = TreeText(first: max(0, tree.count - room), maxLines: room)
            tree.append(part, since: earlier?.part)
        }
        var lines = tree.lines.map { PicturePage.Line($0.text.clipped(to: frame.columns), isChanged: $0.isChanged) }
        if tree.isCut { lines[lines.count - 1] = PicturePage.Line("…".clipped(to: frame.columns)) }
        return PicturePage(headings + lines, first: tree.first)
    }
}

/// A part of a value as an indented tree of at most ``maxLines`` lines.
///
/// ```text
/// counter: 7
/// hosts:
///   web-1:
///     load1: 0.42
/// notes: []
/// ```
struct TreeText {
    /// The shown lines.
    private(set) var lines: [PicturePage.Line] = []
    /// The lines before the first shown one, the shown ones, and perhaps one more.
    private(set) var count = 0
    /// Whether the tree has more lines than fit.
    var isCut: Bool { count > first && count - first > maxLines }
    /// The first line to show.
    let first: Int
    private let maxLines: Int

    init(first: Int = 0, maxLines: Int) { (self.first, self.maxLines) = (first, maxLines) }

    /// Appends the root value.
    ///
    /// - Parameter earlier: an earlier value, to mark the lines that differ from it; `nil` marks none.
    mutating func append(_ value: Value, since earlier: Value? = nil) {
        let before = earlier.map { Before.value($0) } ?? .unknown
        if Self.children(of: value).isEmpty {
            add(isChanged: before.isOther(than: value)) { Self.leaf(value) }
        } else {
            append(childrenOf: value, since: before, depth: 0)
        }
    }

    private mutating func append(childrenOf value: Value, since before: Before, depth: Int) {
        for (place, child) in Self.children(of: value) {
            // Stops early: a state may have a hundred thousand rows, a screen has fifty.
            guard !isCut else { return }
            let isLeaf = Self.children(of: child).isEmpty
            let earlier = before.child(at: place)
            add(isChanged: isLeaf ? earlier.isOther(than: child) : earlier.isLeaf) {
                String(repeating: "  ", count: depth) + place.label + (isLeaf ? ": " + Self.leaf(child) : ":")
            }
            if !isLeaf { append(childrenOf: child, since: earlier, depth: depth + 1) }
        }
    }

    /// Appends a line. Makes no text of a line that is not shown.
    private mutating func add(isChanged: @autoclosure () -> Bool, _ text: () -> String) {
        if count >= first, lines.count < maxLines {
            lines.append(PicturePage.Line(VisibleText.line(text()), isChanged: isChanged()))
        }
        count += 1
    }

    /// The place of a value in the value around it.
    fileprivate enum Place {
        case entry(key: Value)
        case element(index: Int)

        var label: String {
            switch self {
            // Their names are not readable.
            case .entry(let key) where key.arrayValue != nil || key.mapValue != nil: key.description
            case .entry(let key): key.keyName
            case .element(let index): "\(index)"
            }
        }
    }

    /// What an earlier value had at the place of a value.
    private enum Before {
        /// Not known: nothing is marked.
        case unknown
        case nothing
        case value(Value)

        func child(at place: Place) -> Before {
            guard case .value(let value) = self else { return self }
            switch (place, PlainForm(value)) {
            case (.entry(let key), .map(let map)): return map[key].map { .value($0) } ?? .nothing
            case (.element(let index), .array(let elements)) where elements.indices.contains(index):
                return .value(elements[index])
            default: return .nothing
            }
        }

        func isOther(than value: Value) -> Bool {
            switch self {
            case .unknown: false
            case .nothing: true
            case .value(let earlier): earlier != value
            }
        }

        /// Whether it is no line with other lines below it.
        var isLeaf: Bool {
            switch self {
            case .unknown: false
            case .nothing: true
            case .value(let value): TreeText.children(of: value).isEmpty
            }
        }
    }

    /// A lazy view, so that `isEmpty` costs nothing.
    private static func children(of value: Value) -> AnyCollection<(Place, Value)> {
        switch PlainForm(value) {
        case .map(let map): AnyCollection(map.lazy.map { (.entry(key: $0.key), $0.value) })
        case .array(let array): AnyCollection(array.enumerated().lazy.map { (.element(index: $0.offset), $0.element) })
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
