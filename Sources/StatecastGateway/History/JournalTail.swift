import Statecast
import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import StatecastThreading

/// Reads the records that the primary appends: the rows of the log, and the changes of each action.
///
/// Used by one task at a time.
final class JournalTail: Sendable {
    /// The rows and counts of newly read records.
    struct Part {
        /// The last rows: older ones are counted only.
        var rows: [[UInt8]] = []
        var rowCount = 0
        var applied = 0
        var rejected = 0
        var patchBytes = 0

        mutating func append(_ row: [UInt8]) {
            rows.append(row)
            rowCount += 1
            if rows.count > 2 * StoreFeed.maxRows { rows.removeFirst(StoreFeed.maxRows) }
        }
    }

    private let history: StoreHistory
    private let changes: ChangeIndex
    private let last: Locked<JournalSequence>
    /// The rejections of each record that has some, oldest first, from the record `first` on.
    private let rejections: Locked<(first: UInt64, counts: [(sequence: UInt64, count: Int)])>
    /// The revision before the first record.
    let start: Revision

    private static let maxBytes = 4 << 20
    /// A patch of more places restarts the index.
    private static let maxPlaces = 512
    private static let maxRejections = 100_000

    init(of history: StoreHistory, _ changes: ChangeIndex) throws {
        (self.history, self.changes) = (history, changes)
        let end = try history.reader.contents().last
        (last, rejections) = (Locked(end), Locked((end.next.rawValue, [])))
        let record = try history.reader.records(after: end.previous, maxBytes: 1).first
        start = try record?.to ?? history.reader.snapshots().last?.revision ?? Revision(0)
    }

    /// Reads the records since the last call.
    ///
    /// - Throws: `JournalFailure`.
    func read() throws -> Part {
        var part = Part()
        while true {
            let records = try history.reader.records(after: last.withLock(\.self), maxBytes: Self.maxBytes)
            guard let end = records.last else { return part }
            let now = Timestamp.systemClock()
            for record in records { try read(record, at: now, into: &part) }
            last.withLock { $0 = end.sequence }
        }
    }

    private func read(_ record: JournalRecord, at now: Timestamp, into part: inout Part) throws {
        let batch = try BatchRecord(reading: record)
        let actions = RecordedAction.list(of: batch, at: record.sequence)
        for action in actions {
            var writer = JSONWriter()
            history.row.write(action, delay: max(0, now.milliseconds - action.time.milliseconds), to: &writer)
            part.append(writer.bytes)
        }
        if actions.isEmpty {
            var writer = JSONWriter()
            history.row.writeConversion(record, at: now, to: &writer)
            part.append(writer.bytes)
        }
        let applied = actions.filter(\.isApplied)
        part.applied += applied.count
        part.rejected += actions.count - applied.count
        part.patchBytes += batch.patch.count
        if actions.count > applied.count {
            rejections.withLock { rejections in
                rejections.counts.append((record.sequence.rawValue, actions.count - applied.count))
                guard rejections.counts.count > Self.maxRejections else { return }
                rejections.counts.removeFirst(Self.maxRejections / 2)
                rejections.first = rejections.counts[0].sequence
            }
        }
        guard !batch.patch.isEmpty, let patch = try? Patch(decoding: batch.patch) else { return }
        note(patch, at: record.to, by: applied.count == 1 ? applied[0].name : nil)
    }

    private func note(_ patch: Patch, at revision: Revision, by action: String?) {
        var places: [ChangeIndex.Place] = []
        let isComplete = patch.forEachChange { path, _, hasParts in
            places.append(ChangeIndex.Place(path: path.map(\.keyName), hasParts: hasParts))
            return places.count < Self.maxPlaces
        }
        if isComplete { changes.record(places, at: revision, by: action) } else { changes.restart(from: revision) }
    }

    /// The number of rejections in a range of records; `nil` if some of them were not counted.
    func rejections(in range: ClosedRange<UInt64>) -> Int? {
        rejections.withLock { rejections in
            guard range.lowerBound >= rejections.first else { return nil }
            let start = rejections.counts.partitioningIndex { $0.sequence >= range.lowerBound }
            return rejections.counts[start...].prefix { $0.sequence <= range.upperBound }.reduce(0) { $0 + $1.count }
        }
    }
}
