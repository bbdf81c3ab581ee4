/// The parts of a state, or of payloads, that no answer contains: patterns such as `/users/*/email`, in which `*`
/// stands for any key.
///
/// A value of this type is a place in all patterns at once. Where nothing below is hidden, it is empty and costs
/// nothing.
struct HiddenPaths: Sendable {
    private final class Node: Sendable {
        let children: [String: Node]
        let isEnd: Bool

        /// - Parameter patterns: the remaining components.
        init(_ patterns: [ArraySlice<String>]) {
            isEnd = patterns.contains(where: \.isEmpty)
            children = Dictionary(grouping: patterns.filter { !$0.isEmpty }) { $0[$0.startIndex] }
                .mapValues { Node($0.map { $0.dropFirst() }) }
        }
    }

    private var nodes: [Node]

    init(_ patterns: [[String]]) { nodes = patterns.isEmpty ? [] : [Node(patterns.map { $0[...] })] }

    private init(nodes: [Node]) { self.nodes = nodes }

    /// Whether nothing is hidden here or below.
    var isEmpty: Bool { nodes.isEmpty }

    /// Whether the value here is hidden as a whole.
    var hidesAll: Bool { nodes.contains(where: \.isEnd) }

    /// The place of a key. The key is only made if something may be hidden.
    func inside(_ key: () -> String) -> HiddenPaths {
        guard !nodes.isEmpty else { return self }
        let name = key()
        // Everything below a hidden value is hidden.
        return HiddenPaths(
            nodes: nodes.flatMap { node in
                node.isEnd ? [node] : [node.children[name], node.children["*"]].compactMap(\.self)
            }
        )
    }

    /// Whether a path is in a hidden part.
    func hides(_ path: [String]) -> Bool { inside(path).hidesAll }

    /// The place of a path.
    func inside(_ path: [String]) -> HiddenPaths {
        var place = self
        for component in path where !place.isEmpty { place = place.inside { component } }
        return place
    }
}
