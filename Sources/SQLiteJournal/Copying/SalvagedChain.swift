internal import Journal
internal import SyncProtocol

/// A state, and the records that lead on from it.
struct SalvagedChain {
    let start: JournalSnapshot
    /// The last incarnation of the primary in it.
    private(set) var epoch: Epoch
    /// What ends it; `nil` if there is nothing more.
    var damage: String?
    /// Whether the record behind its start is whole, and does not lead on from there.
    private(set) var isRefuted = false
    /// The later snapshots to which the records lead.
    private(set) var confirmed: [SnapshotEntry] = []
    /// The snapshots that are not what the records lead to.
    var contradicted: [Revision] = []
    /// Where the history began before a break that lies before the start.
    var lostHistory: Revision?

    private var walk: JournalWalk

    /// Begins where a walk does.
    init(from start: JournalSnapshot, _ walk: JournalWalk) {
        self.start = start
        self.walk = walk
        epoch = walk.start.epoch
    }

    var end: SnapshotEntry { walk.place }

    /// The shape of its State.
    var fingerprint: UInt64 { walk.start.fingerprint }

    mutating func advance(by record: JournalRecord) throws(JournalFailure) {
        do throws(JournalFailure) { epoch = try walk.advance(by: record).epoch } catch {
            isRefuted = end == start.entry
            throw error
        }
    }

    mutating func compare(_ snapshot: JournalSnapshot) {
        if (try? walk.agrees(with: snapshot)) == true {
            confirmed.append(snapshot.entry)
        } else {
            contradicted.append(snapshot.entry.revision)
        }
    }
}
