internal import Journal
internal import SyncProtocol

/// The journal that a start finds, checked against its marks.
///
/// Everything that can refuse a start is checked before SQLite opens the database for writing: it would drop a damaged end
/// of the log, write the rest into the database and remove the log, and with it all that could still be put right.
struct FoundJournal {
    /// What is there, for reading.
    let records: RecordStore
    /// What it holds, without what is lost.
    let contents: JournalContents
    /// The first record that is not whole; it was never acknowledged.
    let firstLost: JournalSequence?

    /// - Returns: `nil` where nothing was begun.
    /// - Throws: ``JournalFailure``, with every file as it was.
    init?(_ directory: JournalDirectory) throws(JournalFailure) {
        let page = Result { () throws(JournalFailure) in try MarkPage(reading: directory) }
        let marks = try? page.get()
        try marks?.checkServable(in: directory)
        let isBegun = marks?.isBegun ?? false
        if !isBegun && directory.isUnbegun { return nil }
        records = try RecordStore(reading: directory)
        guard let contents = try records.contents() else {
            // A history begins with a snapshot; further ones are of another time.
            if !isBegun, try directory.snapshots().count <= 1 { return nil }
            throw directory.damaged("journal.sqlite holds no history any more")
        }
        guard let snapshot = try records.snapshots().last else { throw directory.damaged("it has no snapshot") }
        let acknowledged = try page.get().check(contents, in: directory)
        let lost = try records.checkEnd(contents.last, acknowledged: acknowledged, snapshot)
        var droppedCount = 0
        if let lost { droppedCount = try records.count(from: lost) }
        firstLost = lost
        self.contents = JournalContents(
            identity: contents.identity,
            epochs: contents.epochs,
            last: lost.map { JournalSequence($0.rawValue - 1) } ?? contents.last,
            droppedCount: droppedCount
        )
    }
}
