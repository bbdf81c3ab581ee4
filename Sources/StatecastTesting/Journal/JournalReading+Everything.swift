internal import Journal
internal import SyncProtocol

/// What is in a journal.
struct Everything: Equatable {
    let snapshots: [JournalSnapshot]
    let records: [JournalRecord]
}

extension JournalReading {
    /// All that can be read, from the oldest snapshot on.
    func everything() throws -> Everything {
        let snapshots = try snapshots()
        var records: [JournalRecord] = []
        var last = snapshots.first?.sequence ?? JournalSequence(0)
        while true {
            let more = try self.records(after: last, bytesMax: 1000)
            guard let end = more.last else { break }
            records += more
            last = end.sequence
        }
        return Everything(snapshots: try snapshots.map { try snapshot($0) }, records: records)
    }
}
