public import StatecastCoding
public import StatecastCore
public import StatecastProtocol

/// The last changes of a part of the state, and the actions that made them.
///
/// A journal records a patch for each batch of actions. A batch of one action is exact: the action made the change. In
/// a larger batch, each of its applied actions may have.
public struct Blame: Hashable, Sendable {
    /// A batch that changed the part.
    public struct Change: Hashable, Sendable {
        /// The batch's record.
        public let sequence: JournalSequence
        /// The revision before the batch.
        public let from: Revision
        /// The revision after the batch, the first one whose recorded state has the change.
        public let to: Revision
        /// The time at which the primary received the last of the actions; of a conversion, the start that made it.
        /// `nil` if that start is unknown.
        public let time: Timestamp?
        /// How the batch changed the part.
        public let kind: Patch.ChangeKind
        /// The new value; `nil` if nothing is there after the change, or if the batch's patch does not hold all of it.
        public let value: Value?
        /// The applied actions of the batch: those first whose payloads mention more names of the path. None if a start
        /// of the primary converted the state to that of its build.
        public let actions: [RecordedAction]

        /// The revision after the batch.
        public var revision: Revision { to }
        /// Whether the change is that of a single action.
        public var isExact: Bool { actions.count == 1 }
        /// Whether a start of the primary converted the state to that of its build.
        public var isConversion: Bool { actions.isEmpty }
    }

    /// How the history that a journal keeps begins. What the state holds there has no author in the journal.
    public enum Boundary: String, Hashable, Sendable {
        /// With the state with which the program began the lineage.
        case initial
        /// With a snapshot. The records before it were pruned.
        case snapshot
        /// With a state of another journal, from which this one was restored, salvaged or moved.
        case restored
    }

    /// The revision at which the search began.
    public let revision: Revision
    /// The changes that were found, newest first.
    public let changes: [Change]
    /// Besides the changes, the search found no other after this revision.
    public let searchedTo: Revision
    /// How the kept history begins, if the search has reached that.
    public let boundary: Boundary?
    /// Where a further search continues; `nil` if this one has reached the beginning of the kept history.
    public let next: JournalSequence?

    /// Whether the search has reached the beginning of the kept history.
    public var isComplete: Bool { next == nil }
}

extension Blame {
    /// The part of a journal that is searched: the records after the beginning of the kept history, up to an end.
    package struct Scope: Sendable {
        package let oldest: SnapshotEntry
        package let end: SnapshotEntry
        package let boundary: Boundary
        /// The starts of the primary, which have the times of conversions.
        package let epochs: [EpochStart]

        package init(from oldest: SnapshotEntry, to end: SnapshotEntry, boundary: Boundary, epochs: [EpochStart]) {
            (self.oldest, self.end, self.boundary, self.epochs) = (oldest, end, boundary, epochs)
        }
    }

    /// The bytes of records to read at first, and at most, before the search asks whether it is over.
    private static let minWindowBytes = 64 << 10
    private static let maxWindowBytes = 4 << 20

    /// Searches for changes, newest first.
    ///
    /// - Parameters:
    ///   - limit: the number of changes to find, at least 1.
    ///   - maxBytes: the most bytes of records to read, more or less.
    ///   - isOver: ends the search when it returns `true`; called after each part of the records.
    ///   - records: returns the records before one, newest first, and at least one of them within the bytes. None if
    ///     they were pruned since the search began.
    package static func search(
        for path: ValuePath,
        in scope: Scope,
        limit: Int,
        maxBytes: Int,
        until isOver: () -> Bool,
        reading records: (_ before: JournalSequence, _ maxBytes: Int) throws(JournalFailure) -> [JournalRecord]
    ) throws(JournalFailure) -> Blame {
        var changes: [Change] = []
        var (place, bytes, window) = (scope.end, 0, minWindowBytes)
        var isPruned = false
        func blame(isComplete: Bool) -> Blame {
            Blame(
                revision: scope.end.revision,
                changes: changes,
                searchedTo: place.revision,
                boundary: !isComplete ? nil : isPruned ? .snapshot : scope.boundary,
                next: isComplete ? nil : place.sequence.next
            )
        }
        while place.sequence > scope.oldest.sequence {
            let older = try records(place.sequence.next, min(window, maxBytes - bytes))
            isPruned = older.isEmpty
            if isPruned { break }
            for record in older {
                guard record.to == place.revision else {
                    throw JournalFailure(
                        .damaged,
                        "from revision \(record.from.next) on: record \(record.sequence) ends at revision "
                            + "\(record.to), and the next one begins at \(place.revision)"
                    )
                }
                place = SnapshotEntry(sequence: record.sequence.previous, revision: record.from)
                bytes += record.body.count
                guard let change = try Change(of: path, by: record, epochs: scope.epochs) else { continue }
                changes.append(change)
                if changes.count >= limit { return blame(isComplete: place.sequence <= scope.oldest.sequence) }
            }
            if place.sequence > scope.oldest.sequence, bytes >= maxBytes || isOver() { return blame(isComplete: false) }
            window = min(2 * window, maxWindowBytes)
        }
        return blame(isComplete: true)
    }
}

extension Blame.Change {
    /// `nil` if the record does not change the path.
    fileprivate init?(
        of path: ValuePath,
        by record: JournalRecord,
        epochs: [EpochStart]
    ) throws(JournalFailure) {
        // Nearly all records change something else: only their patches are read.
        guard record.to > record.from, let change = try record.patch()?.change(at: path) else { return nil }
        let batch = try BatchRecord(reading: record)
        let applied = RecordedAction.list(of: batch, at: record.sequence).filter(\.isApplied)
        sequence = record.sequence
        (from, to) = (record.from, record.to)
        time = applied.last?.time ?? epochs.first { $0.epoch == batch.epoch }?.time
        (kind, value) = (change.kind, change.value)
        actions = applied.count < 2 ? applied : Self.likeliestFirst(applied, path)
    }

    private static func likeliestFirst(_ actions: [RecordedAction], _ path: ValuePath) -> [RecordedAction] {
        let names = Set(path.names)
        var ranks: [[RecordedAction]] = Array(repeating: [], count: names.count + 1)
        for action in actions {
            var missing = names
            action.payload?.removeMentioned(from: &missing)
            ranks[missing.count].append(action)
        }
        return ranks.flatMap(\.self)
    }
}

extension JournalRecord {
    /// - Throws: ``JournalFailure`` with code `damaged`.
    fileprivate func patch() throws(JournalFailure) -> Patch? {
        do { return try BatchRecord.patch(in: body) } catch { throw unreadable(error) }
    }
}

extension Value {
    /// Removes the names that are the names of keys, or texts or numbers, in this value.
    fileprivate func removeMentioned(from names: inout Set<String>) {
        guard !names.isEmpty else { return }
        switch self {
        case .text, .unsigned, .negative: names.remove(keyName)
        case .array(let elements): for element in elements { element.removeMentioned(from: &names) }
        case .map(let map):
            for (key, element) in map {
                names.remove(key.keyName)
                element.removeMentioned(from: &names)
            }
        case .tagged(_, let content):
            names.remove(keyName)
            content.removeMentioned(from: &names)
        case .null, .bool, .float, .bytes: break
        }
    }
}
