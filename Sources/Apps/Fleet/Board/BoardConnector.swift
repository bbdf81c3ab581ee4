internal import StateCoding
public import StateCore

/// Makes a live board out of a fleet.
///
/// Whether a machine is silent depends on the time alone: ask again on a tick to see one fall silent.
public struct BoardConnector: Connector {
    /// A machine is silent if its latest sample is older than this.
    public let silentAfter: Duration
    /// How many notes the board shows.
    public let notesMax: Int

    /// A board on which a machine counts as silent when nothing was heard of it for longer than `silentAfter`.
    public init(silentAfter: Duration = .seconds(10), notesMax: Int = 5) {
        self.silentAfter = silentAfter
        self.notesMax = max(0, notesMax)
    }

    /// The board as it looks at `now`, by a clock that agrees with the primary's.
    public func props(from fleet: Fleet, at now: Timestamp) -> BoardProps {
        var totals = BoardProps.Totals(
            fresh: 0,
            silent: 0,
            retired: 0,
            samples: fleet.totals.samples,
            ignored: fleet.totals.ignored
        )
        var rows: [BoardProps.Row] = []
        rows.reserveCapacity(fleet.hosts.count)
        for host in fleet.hosts.values {
            let freshness = freshness(of: host, at: now)
            switch freshness {
            case .fresh: totals.fresh += 1
            case .silent: totals.silent += 1
            case .retired: totals.retired += 1
            }
            rows.append(
                BoardProps.Row(name: host.name, sample: host.latest, busy: host.busy, freshness: freshness)
            )
        }
        rows.sort { ($1.sample.load1, $0.name) < ($0.sample.load1, $1.name) }
        return BoardProps(rows: rows, totals: totals, notes: Array(fleet.notes.suffix(notesMax)))
    }

    private func freshness(of host: Host, at now: Timestamp) -> BoardProps.Freshness {
        if host.isRetired { return .retired }
        let silence = host.lastSeen.duration(to: now)
        return silence > silentAfter ? .silent(for: .seconds(silence.components.seconds)) : .fresh
    }
}
