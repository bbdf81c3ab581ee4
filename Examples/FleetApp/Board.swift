import StatecastCoding
package import StatecastCore

/// The content of a live board at one moment.
package struct BoardProps: Equatable, Sendable {
    /// The hosts, highest load first, then by name.
    package var rows: [Row]
    package var totals: Totals
    /// The latest notes, newest last.
    package var notes: [Note]

    /// One host.
    package struct Row: Equatable, Sendable {
        package var name: String
        /// The latest sample.
        package var sample: Sample
        /// The share of processor time in use, 0 to 1; `nil` if unknown.
        package var busy: Double?
        package var freshness: Freshness
    }

    /// The age of a host's latest sample.
    package enum Freshness: Equatable, Sendable {
        /// The sample is recent.
        case fresh
        /// No recent sample, for this duration in whole seconds, so that the props change at most once a second; `nil`
        /// if the primary's clock has been set back since the latest one.
        case silent(for: Duration?)
        /// The host is out of service.
        case retired
    }

    /// The counts of the line below the title.
    package struct Totals: Equatable, Sendable {
        package var fresh: Int
        package var silent: Int
        package var retired: Int
        /// Accepted samples, ever.
        package var samples: Int
        /// Ignored actions, ever.
        package var ignored: Int
    }
}

/// Maps a fleet to the content of its board.
///
/// A host falls silent as time passes, without an action: call ``props(from:at:)`` on a tick, too.
package struct BoardConnector: Connector {
    /// A host is silent if its latest sample is older than this.
    package let silentAfter: Duration
    /// The most notes on the board.
    package let maxNotes: Int

    package init(silentAfter: Duration = .seconds(10), maxNotes: Int = 5) {
        self.silentAfter = silentAfter
        self.maxNotes = max(0, maxNotes)
    }

    /// - Parameter now: the time by the primary's clock.
    package func props(from fleet: Fleet, at now: Timestamp) -> BoardProps {
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
        return BoardProps(rows: rows, totals: totals, notes: Array(fleet.notes.suffix(maxNotes)))
    }

    private func freshness(of host: Host, at now: Timestamp) -> BoardProps.Freshness {
        if host.isRetired { return .retired }
        let silence = host.lastSeen.duration(to: now)
        if silence > silentAfter { return .silent(for: .seconds(silence.components.seconds)) }
        // The clock may be adjusted a little between a sample and now, but not by more than a sample takes to age.
        return silence < .zero - silentAfter ? .silent(for: nil) : .fresh
    }
}
