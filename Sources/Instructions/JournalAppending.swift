import Foundation
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastSQLite

/// A new journal in a temporary folder, into which records of one action are written.
struct JournalAppending {
    private let folder: String
    private let journal: SQLiteJournal
    private var last: UInt64 = 0

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "statecast-instructions-\(UUID())").path
        journal = SQLiteJournal(at: folder, durability: .normal)
        _ = try journal.open()
        let identity = JournalIdentity(
            store: try StoreName("store"),
            lineage: Lineage(bits: 1),
            begun: MemoryPrimary<Marks>.time
        )
        let entry = SnapshotEntry(sequence: JournalSequence(0), revision: 0)
        try journal.begin(identity, from: JournalSnapshot(entry, context: [], state: [0]))
    }

    /// Appends a record in a transaction of its own.
    mutating func append(isCounted: Bool) throws {
        let record = JournalRecord(
            sequence: JournalSequence(last + 1),
            from: Revision(last),
            to: Revision(last + 1),
            body: Array(repeating: 7, count: 250)
        )
        try collect(isCounted) { try journal.append([record]) }
        last += 1
    }

    func close() throws {
        journal.close()
        try FileManager.default.removeItem(atPath: folder)
    }
}
