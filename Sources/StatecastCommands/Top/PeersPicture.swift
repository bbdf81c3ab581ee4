import Statecast
import StatecastCoding
import StatecastCommandLine
import StatecastTerminal

/// The peers of a store as a table, and what the store does.
///
/// ```text
/// fleet.peers, revision 12, live, from tcp://127.0.0.1:7100
/// revision 81234, 1204 actions/s, commit p99 3.2 ms, rejected: 3 policy, 1 too-large
/// replicas: 1, senders: 1, by lag
///
/// KIND     NAME       USER  ADDRESS    LAG  REVISION  ACTIONS/S    AGE
/// replica  web-1:471  -     127.0.0.1    3     81231          -  2m 5s
/// sender   9f3c61d2   -     127.0.0.1    -         -       1204  1h 0m
/// ```
struct PeersPicture: Picture {
    let keys: [PictureFrame.Choice] = Order.allCases.map { PictureFrame.Choice(key: $0.rawValue, name: $0.name) }

    /// What the first row has most of.
    private enum Order: Character, CaseIterable {
        case lag = "l"
        case rate = "r"
        case name = "n"
        case age = "a"

        var name: String { "\(self)" }

        func precedes(_ one: Peer, _ other: Peer) -> Bool {
            switch self {
            case .lag: key(one.laggingBy) > key(other.laggingBy)
            case .rate: one.actionsPerSecond ?? -1 > other.actionsPerSecond ?? -1
            case .name: one.name < other.name
            case .age: one.since < other.since
            }
        }

        private func key(_ lag: UInt64?) -> Double { lag.map(Double.init) ?? -1 }
    }

    private static let headings = ["KIND", "NAME", "USER", "ADDRESS", "LAG", "REVISION", "ACTIONS/S", "AGE"]

    func page(of state: FollowedState, since earlier: FollowedState?, in frame: PictureFrame) -> PicturePage {
        guard let part = state.part, let list = try? StateDecoder().decode(Peers.self, from: part) else {
            return TreePicture().page(of: state, since: earlier, in: frame)
        }
        let order = frame.choice.flatMap(Order.init) ?? .lag
        // By the identity, where nothing else decides.
        let peers = list.peers.sorted { $0.key < $1.key }.map(\.value).sorted(by: order.precedes)
        let head = [state.title, list.summary, "\(list.counts), by \(order.name)", ""].map(VisibleText.line)
        let room = frame.rows.map { max(1, $0 - head.count - 1) } ?? .max
        let first = max(0, min(frame.first, peers.count - min(room, peers.count)))
        let table = Self.table([Self.headings] + peers.map { $0.cells(at: state.primaryTime) })
        let lines = head + table.prefix(1) + table.dropFirst(1 + first).prefix(room)
        return PicturePage(lines.map { PicturePage.Line($0.clipped(to: frame.columns)) }, first: first)
    }

    private static func table(_ rows: [[String]]) -> [String] {
        let widths = headings.indices.map { column in rows.map { $0[column].displayWidth }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, cell in
                cell.padded(to: widths[column], alignment: column < 4 ? .left : .right)
            }.joined(separator: "  ")
        }
    }
}

extension Peers {
    fileprivate var summary: String {
        let rate = actionsPerSecond.map { "\(HumanUnits.fixed($0, decimals: 0)) actions/s" }
        let commit = commitP99Milliseconds.map { "commit p99 \(HumanUnits.fixed($0, decimals: 1)) ms" }
        let codes = rejected.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
        let rejections = codes.isEmpty ? "nothing rejected" : "rejected: " + codes.joined(separator: ", ")
        return (["revision \(revision)", rate, commit, rejections] as [String?]).compactMap(\.self).joined(
            separator: ", "
        )
    }

    fileprivate var counts: String {
        let replicas = peers.values.count { $0.kind == .replica }
        return "replicas: \(replicas), senders: \(peers.count - replicas)"
    }
}

extension Peer {
    /// Of a replica; the most if it has no state of the present history.
    fileprivate var laggingBy: UInt64? { kind == .replica ? lag ?? .max : nil }

    fileprivate func cells(at now: Timestamp?) -> [String] {
        let age = now.map { HumanUnits.duration(seconds: Double($0.milliseconds - since) / 1000) }
        let rate = actionsPerSecond.map { HumanUnits.fixed($0, decimals: 0) }
        return [
            kind.rawValue, name, user, address, lag.map { "\($0)" }, revision.map { "\($0)" }, rate, age,
        ].map { $0.map(VisibleText.line) ?? "-" }
    }
}
