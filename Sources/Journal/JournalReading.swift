public import SyncProtocol

/// What can be asked of a journal, by its primary or by whoever only looks at it.
public protocol JournalReading: AnyObject, Sendable {
    /// The incarnations of the primary, oldest first.
    func epochs() throws(JournalFailure) -> [EpochStart]

    /// The records behind one, oldest first.
    ///
    /// - Parameter bytesMax: ends the answer when their bodies are more than that; at least one record is returned if there
    ///   is one.
    /// - Throws: ``JournalFailure`` with code `damaged` that says from which revision on; with code `pruned` if the first
    ///   of them is no longer kept.
    func records(after sequence: JournalSequence, bytesMax: Int) throws(JournalFailure) -> [JournalRecord]

    /// The last record that ends at or before a revision: where reading begins that has to lead past it.
    ///
    /// - Returns: its sequence; the sequence before the oldest record if that begins there; `nil` if what led to the
    ///   revision is no longer kept.
    func sequence(at revision: Revision) throws(JournalFailure) -> JournalSequence?

    /// The snapshots that are kept, oldest first.
    func snapshots() throws(JournalFailure) -> [SnapshotEntry]

    /// Reads a snapshot and checks it.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged`; with code `pruned` if it is no longer kept.
    func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot

    /// The snapshot at which the history begins, read from the second place in which the journal keeps it. Recovery uses it
    /// when no other snapshot can be read.
    ///
    /// - Returns: `nil` if the journal has no second place, or no longer keeps that snapshot. The default implementation
    ///   returns `nil`.
    /// - Throws: ``JournalFailure`` with code `damaged`.
    func origin() throws(JournalFailure) -> JournalSnapshot?
}

extension JournalReading {
    /// Returns `nil`.
    public func origin() throws(JournalFailure) -> JournalSnapshot? { nil }
}
