public import SyncProtocol

/// Where one store's history is kept, so that a primary can be ended at any instruction and go on where its receipts
/// left off.
///
/// A journal is a row of records, one for each batch of actions, and now and then a snapshot of the whole state. It does
/// not look into them: what a record holds is a matter of the protocol.
///
/// The functions block until what they say is done, and say so by returning. The primary calls them from threads that
/// are made for that:
/// - `open`, `begin`, `claim` and `close` one after the other, with nothing else going on;
/// - `append` from one thread, one call at a time;
/// - `store`, `prune`, `records` and `snapshot` from other threads, also while `append` is at work, which must not wait for
///   them.
///
/// ``MemoryJournal`` is the one that forgets; `SQLiteJournal` is the one that stays.
public protocol Journal: JournalReading {
    /// What an acknowledged action survives.
    var durability: Durability { get }

    /// What survives the end of the process though nobody waits for it to be written.
    var reductions: ReductionNotes { get }

    /// Takes the journal for this process, and looks at what it holds.
    ///
    /// Records that were never acknowledged and are damaged are not among what it holds, and are dropped before anything is
    /// written: nobody knows of them.
    ///
    /// - Returns: what it holds; `nil` for a journal without a history, see ``begin(_:from:)``.
    /// - Throws: ``JournalFailure`` with code `in-use`, `newer-format`, `damaged` or `input-output`.
    func open() throws(JournalFailure) -> JournalContents?

    /// Begins a history, with a snapshot of where it begins. Whatever was there before must have been nothing.
    func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure)

    /// Notes that an incarnation of the primary begins; durable on return.
    func claim(_ epoch: EpochStart) throws(JournalFailure)

    /// Appends records, in order and after the last one, all or none of them.
    ///
    /// - Throws: ``JournalFailure`` with code `storage-full` if there is no room, and then none was appended; with any other
    ///   code the outcome is unknown, and the journal has to be opened again. The code is `removed` if the journal is no
    ///   longer where it was opened.
    func append(_ records: [JournalRecord]) throws(JournalFailure)

    /// Keeps a snapshot; durable, and read again, on return.
    ///
    /// - Parameter isInterim: whether the snapshot is removed when a later one is stored. The snapshot of a stop is: frequent
    ///   stops would otherwise leave more bytes of snapshots than of records.
    /// - Throws: ``JournalFailure``; then it is not kept, and nothing else is lost.
    func store(_ snapshot: JournalSnapshot, isInterim: Bool) throws(JournalFailure)

    /// Checks that the journal is still where it was opened: that the next start finds what is appended.
    ///
    /// ``append(_:)`` checks by itself before it returns. The primary calls this where it publishes a record before the
    /// record is appended, and while it is idle. It takes a few microseconds, and runs on the primary's loop. The default
    /// implementation does nothing, which suits a journal that cannot be removed.
    ///
    /// - Throws: ``JournalFailure`` with code `removed`.
    func checkPlace() throws(JournalFailure)

    /// Forgets the oldest snapshots and the records up to the oldest one that stays, as long as the records behind that
    /// have so many bytes. The last two snapshots stay in any case: should the last one be damaged, the one before it
    /// leads to the same state.
    func prune(keeping historyBytes: Int) throws(JournalFailure)

    /// Lets go of the journal. What was appended stays.
    func close()
}

extension Journal {
    /// Keeps a snapshot that stays until it is pruned.
    public func store(_ snapshot: JournalSnapshot) throws(JournalFailure) { try store(snapshot, isInterim: false) }

    /// Does nothing.
    public func checkPlace() throws(JournalFailure) {}
}

/// What an acknowledged action survives.
public enum Durability: String, CaseIterable, Sendable {
    /// A power cut: nothing is acknowledged or published before the disk has it.
    case full
    /// The end of the process by whatever means. A power cut or a crash of the system can take what was acknowledged in
    /// the last moments.
    case normal
    /// A graceful stop. What was acknowledged in the last moments before a crash of the process can be lost: it is
    /// published while it is being written.
    case relaxed
}
