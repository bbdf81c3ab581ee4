import CommandLineSupport
import FleetApp
import StateCoding
import Statecast

/// The fleet as its board; what is called fleet and is none, as a tree.
struct BoardPicture: Picture {
    private let connector = BoardConnector()
    private let usesColour = Terminal.isColourWelcome

    /// Lines of the board that are neither machines nor notes: title, totals, headings, what was left out, two blank ones.
    private static let linesAround = 6

    func lines(of state: FollowedState, columns: Int, rows: Int?) -> [String] {
        guard let part = state.part, let now = state.primaryTime,
            let fleet = try? StateDecoder().decode(Fleet.self, from: part)
        else { return TreePicture().lines(of: state, columns: columns, rows: rows) }
        let props = connector.props(from: fleet, at: now)
        let rowsMax = rows.map { max(1, $0 - Self.linesAround - props.notes.count) }
        let board = BoardText(columns: columns, rowsMax: rowsMax, usesColour: usesColour)
        return board.lines(of: props, title: state.title)
    }
}
