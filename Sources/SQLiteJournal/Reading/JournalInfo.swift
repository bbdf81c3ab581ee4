internal import Foundation
package import Journal
package import SyncProtocol

/// What can be said of a journal without reading all of it.
package struct JournalInfo: Sendable {
    /// What the directory is for.
    package enum Purpose: String, Sendable { case journal, backup, unfinished, unknown }

    package let purpose: Purpose
    package let identity: JournalIdentity
    package let epochs: [EpochStart]
    /// Where the history begins that is kept.
    package let oldest: SnapshotEntry?
    package let last: SnapshotEntry
    /// `nil` if that cannot be read.
    package let acknowledged: SnapshotEntry?
    package let recordCount: Int
    package let recordBytes: Int
    package let snapshots: [(entry: SnapshotEntry, bytes: Int)]
    /// Who writes it, in words.
    package let holder: String?
}

extension JournalReader {
    /// Looks at a directory as it is at the moment; also at a copy that was interrupted, which nothing else can be asked.
    package static func info(at path: String) throws(JournalFailure) -> JournalInfo {
        try JournalReader(describing: path).info()
    }

    /// Looks at the journal as it is at the moment.
    package func info() throws(JournalFailure) -> JournalInfo {
        // First, so that whoever writes meanwhile is not thought to have lost something.
        let acknowledged = try? acknowledged()
        let contents = try contents()
        let size = try records.size()
        let snapshots = try snapshots()
        return JournalInfo(
            purpose: purpose,
            identity: contents.identity,
            epochs: contents.epochs,
            oldest: snapshots.first,
            last: try end(),
            acknowledged: acknowledged,
            recordCount: size.count,
            recordBytes: size.bytes,
            snapshots: snapshots.map { ($0, SnapshotFile($0, in: directory).byteCount) },
            holder: holder
        )
    }

    private var purpose: JournalInfo.Purpose {
        switch (try? marks.get())?.purpose {
        case .journal: .journal
        case .backup: .backup
        case .unfinished: .unfinished
        default: .unknown
        }
    }
}
