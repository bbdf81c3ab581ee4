internal import StateCoding

/// How a state looks on a terminal.
package protocol Picture: Sendable {
    /// The state line by line, below its title. Lines that do not fit are cut off by whoever draws them.
    ///
    /// - Parameter size: the room that there is; `nil` rows: as many as it takes.
    func lines(of state: FollowedState, columns: Int, rows: Int?) -> [String]
}

/// Any state, as a tree.
package struct TreePicture: Picture {
    /// The picture for states of which nothing is known.
    package init() {}

    /// The title, and the tree.
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
