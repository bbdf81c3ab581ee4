import Foundation
import GRDB
import SyncProtocol

@testable import SQLiteJournal

extension JournalBench {
    /// Changes what is in the database, behind the journal's back.
    func sql(_ statement: String) throws {
        let queue = try DatabaseQueue(path: path + "/journal.sqlite")
        try queue.write { db in try db.execute(sql: statement) }
        try queue.close()
    }

    /// Makes a record the last one that was acknowledged.
    func acknowledge(_ sequence: UInt64) throws {
        let marks = try MarkPage(JournalDirectory(path: path))
        marks.acknowledge(JournalSequence(sequence), Revision(3 * sequence))
        marks.acknowledge(JournalSequence(sequence), Revision(3 * sequence))
    }
}
