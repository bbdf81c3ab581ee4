package import StatecastCore
public import StatecastProtocol

/// The storage of one store's history. A primary that ends at any instruction continues from its journal with all that
/// it acknowledged.
///
/// A journal is a sequence of records, one for each batch of actions, and some snapshots of the whole state. It does
/// not interpret their bytes.
///
/// The functions block until their work is done. A journal takes these calls, from blocking threads:
/// - `open`, `begin`, `claim` and `close` in sequence, without concurrent calls;
/// - `append` from one thread, one call at a time;
/// - `store`, `prune`, `records` and `snapshot` from other threads, also during a call of `append`, which must not wait
///   for them.
///
/// `SQLiteJournal` is durable; ``MemoryJournal`` is for tests.
public protocol Journal: JournalReading {
    /// The failures that an acknowledged action survives.
    var durability: Durability { get }

    /// Survives the end of the process, but is not durable.
    var crashMarker: CrashMarker { get }

    /// Locks the journal for this process, and inspects its content.
    ///
    /// Damaged records that were never acknowledged are not part of the content, and are dropped before the first
    /// write.
    ///
    /// - Returns: the content; `nil` for a journal without a history, see ``begin(_:from:)``.
    /// - Throws: ``JournalFailure`` with code `in-use`, `newer-format`, `damaged` or `input-output`.
    func open() throws(JournalFailure) -> JournalContents?

    /// Begins a history with its first snapshot. The journal must not have a history.
    func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure)

    /// Notes the beginning of an incarnation of the primary; durable on return.
    func claim(_ epoch: EpochStart) throws(JournalFailure)

    /// Appends records after the last one, all or none of them.
    ///
    /// - Throws: ``JournalFailure`` with code `storage-full` if there is no room; then no record was appended. With any
    ///   other code the outcome is unknown, and the journal must be opened again. The code is `removed` if the journal
    ///   is no longer where it was opened.
    func append(_ records: [JournalRecord]) throws(JournalFailure)

    /// Stores a snapshot; it is durable and verified on return.
    ///
    /// - Throws: ``JournalFailure``; then the snapshot is not kept, and nothing else is lost.
    func store(_ snapshot: JournalSnapshot, as kind: SnapshotKind) throws(JournalFailure)

    /// Checks that the journal is still where it was opened, so that the next start finds the appended records.
    ///
    /// ``append(_:)`` checks this before it returns. The primary calls this function before it publishes a record that
    /// is not appended yet, and while it is idle. It must return within microseconds, as it runs on the primary's loop.
    /// The default implementation does nothing, which suits a journal that cannot be removed.
    ///
    /// - Throws: ``JournalFailure`` with code `removed`.
    func checkPlace() throws(JournalFailure)

    /// Removes the oldest snapshots, and the records up to the oldest one that stays, as long as the remaining records
    /// have `historyBytes`. The last two snapshots always stay: if the last one is damaged, the one before it and the
    /// records lead to the same state.
    func prune(keeping historyBytes: Int) throws(JournalFailure)

    /// Unlocks the journal. Its content stays.
    func close()
}

/// A journal that knows what it occupies.
package protocol MeasurableJournal: Journal {
    /// Called as ``snapshots()``.
    func measure() throws(JournalFailure) -> JournalSize
}

/// What a journal occupies and keeps.
package struct JournalSize: Sendable {
    /// Of all files.
    package let bytes: Int
    /// The revision at which the kept history begins.
    package let oldest: Revision
    package let lastSnapshot: Timestamp?
    package let lastBackup: Timestamp?

    package init(bytes: Int, oldest: Revision, lastSnapshot: Timestamp?, lastBackup: Timestamp?) {
        (self.bytes, self.oldest, self.lastSnapshot, self.lastBackup) = (bytes, oldest, lastSnapshot, lastBackup)
    }
}

/// How long a journal keeps a snapshot.
public enum SnapshotKind: Sendable {
    /// Until ``Journal/prune(keeping:)`` removes it.
    case regular
    /// Until a later snapshot is stored. A stop stores one: frequent stops would otherwise leave more bytes of
    /// snapshots than of records.
    case interim
}

extension Journal {
    /// Stores a snapshot that stays until it is pruned.
    public func store(_ snapshot: JournalSnapshot) throws(JournalFailure) { try store(snapshot, as: .regular) }

    /// Does nothing.
    public func checkPlace() throws(JournalFailure) {}
}

/// The failures that an acknowledged action survives.
public enum Durability: String, CaseIterable, Sendable {
    /// A power cut: every record is on the disk before it is acknowledged or published.
    case full
    /// Any end of the process. A power cut or a crash of the system can lose the actions that were acknowledged in the
    /// last second.
    case normal
}

/// The reading functions of a journal, for its primary and for readers.
public protocol JournalReading: AnyObject, Sendable {
    /// The incarnations of the primary, oldest first.
    func epochs() throws(JournalFailure) -> [EpochStart]

    /// The records after one, oldest first.
    ///
    /// - Parameter maxBytes: the most bytes of bodies to return; at least one record is returned if there is one.
    /// - Throws: ``JournalFailure`` with code `damaged` that names the revision; with code `pruned` if the first of
    ///   them is no longer kept.
    func records(after sequence: JournalSequence, maxBytes: Int) throws(JournalFailure) -> [JournalRecord]

    /// The snapshots that are kept, oldest first.
    func snapshots() throws(JournalFailure) -> [SnapshotEntry]

    /// Reads and checks a snapshot.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged`; with code `pruned` if it is no longer kept.
    func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot

    /// The second copy of the snapshot at which the history begins. Recovery uses it if no other snapshot can be read.
    ///
    /// - Returns: `nil` if there is no second copy. The default implementation returns `nil`.
    /// - Throws: ``JournalFailure`` with code `damaged`.
    func origin() throws(JournalFailure) -> JournalSnapshot?
}

extension JournalReading {
    /// Returns `nil`.
    public func origin() throws(JournalFailure) -> JournalSnapshot? { nil }
}

/// A failure of a journal.
public struct JournalFailure: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, on which a program acts.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, for logs.
        public let description: String

        /// Another process has the journal open.
        public static let inUse = Code(description: "in-use")
        /// A later version wrote the journal.
        public static let newerFormat = Code(description: "newer-format")
        /// The journal does not hold everything that it acknowledged.
        public static let damaged = Code(description: "damaged")
        /// The requested part is no longer kept.
        public static let pruned = Code(description: "pruned")
        /// There is no room.
        public static let storageFull = Code(description: "storage-full")
        /// The journal belongs to another store, or does not fit this build's types.
        public static let misfit = Code(description: "misfit")
        /// The journal was removed or replaced while it was open. A start would begin a new history.
        public static let removed = Code(description: "removed")
        /// Another node has claimed the store: only it can write.
        public static let fenced = Code(description: "fenced")
        /// A commit to a shared database may have taken effect, or may do so later.
        public static let unknown = Code(description: "unknown")
        /// A shared database lacks records that this node has read from it.
        public static let behind = Code(description: "behind")
        /// A system call failed; the message names it.
        public static let inputOutput = Code(description: "input-output")
    }

    /// The kind of failure.
    public let code: Code
    /// The failure and its remedy.
    public let message: String
    /// The part of the message that names the cause, for use in another message.
    package let reason: String

    /// Creates a failure.
    public init(_ code: Code, _ message: String) {
        self.init(code, message, reason: message)
    }

    package init(_ code: Code, _ message: String, reason: String) {
        self.code = code
        self.message = message
        self.reason = reason
    }

    /// The message.
    public var description: String { message }
}
