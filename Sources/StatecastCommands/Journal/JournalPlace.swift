import ArgumentParser
import Statecast
import StatecastCommandLine
import StatecastJournal
import StatecastProtocol
import StatecastSQLite

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A place in a history: a revision, or a time by the clock of the primary that wrote the journal.
enum JournalPlace: ExpressibleByArgument {
    case revision(Revision)
    case time(Timestamp)

    init?(argument: String) {
        if let revision = UInt64(argument) {
            self = .revision(Revision(revision))
        } else if let time = Timestamp(argument) {
            self = .time(time)
        } else {
            return nil
        }
    }

    /// The revision at the place: at a time, that of the last batch whose actions the primary had received by then.
    ///
    /// Times are read in the order of the records: where the clock was set back, the first action after the time ends
    /// the search.
    ///
    /// - Throws: `JournalFailure` with code `pruned` if that batch is no longer kept; with code `damaged`.
    func revision(in journal: JournalReader) throws(JournalFailure) -> Revision {
        switch self {
        case .revision(let revision): revision
        case .time(let time): try Self.revision(at: time, in: journal)
        }
    }

    private static func revision(
        at time: Timestamp,
        in journal: JournalReader
    ) throws(JournalFailure) -> Revision {
        guard let oldest = try journal.snapshots().first else {
            throw JournalFailure(.damaged, "the journal has no snapshot: restore a backup")
        }
        var last: Revision?
        var next: Timestamp?
        try journal.forEachRecord(after: oldest.sequence) { record throws(JournalFailure) in
            let batch = try BatchRecord(reading: record)
            next = batch.runs.map(\.time).first { $0 > time }
            if next == nil { last = record.to }
            return next == nil
        }
        if let last { return last }
        if let next, oldest.revision > 0 {
            throw JournalFailure(
                .pruned,
                "\(time.text) is no longer kept: the first action of the journal's history is of \(next.text)"
            )
        }
        return oldest.revision
    }
}

extension JournalReader {
    /// - Throws: ``CommandFailure`` if the journal ends at a place before the revision.
    func requireReached(_ revision: Revision, by place: SnapshotEntry) throws {
        guard place.revision < revision, try place.sequence == contents().last else { return }
        throw CommandFailure.failed("the journal ends at revision \(place.revision), before \(revision)")
    }
}

extension Timestamp {
    /// Reads RFC 3339, with or without a fraction of a second.
    fileprivate init?(_ text: String) {
        let styles = [true, false].map { Date.ISO8601FormatStyle(includingFractionalSeconds: $0) }
        guard let date = styles.lazy.compactMap({ try? $0.parse(text) }).first else { return nil }
        self.init(date)
    }
}
