import Statecast
import StatecastCoding
import StatecastCore
import StatecastJSON
import StatecastJournal
import StatecastProtocol
import StatecastSQLite

/// Which actions a request asks for.
struct ActionFilter {
    var names: Set<String>?
    var isApplied: Bool?
    var code: String?
    var session: String?
    var user: String?
    var path: ValuePath?

    func permits(_ action: RecordedAction) -> Bool {
        if let isApplied, action.isApplied != isApplied { return false }
        if let code, action.rejection?.code.rawValue != code { return false }
        if let session, !action.session.description.hasPrefix(session) { return false }
        if let user, action.user != user { return false }
        if let names { return action.name.map { names.contains($0) } ?? false }
        return true
    }

    /// Whether conversions of the state, which have no action, are wanted.
    var permitsConversions: Bool {
        names == nil && isApplied != false && code == nil && session == nil && user == nil
    }

    /// Whether a record may have a wanted action: one that changes the path.
    func mayHave(_ record: JournalRecord) -> Bool {
        guard let path else { return true }
        return (try? BatchRecord.patch(in: record.body)?.change(at: path)) != nil
    }
}

extension StoreHistory {
    // MARK: Actions

    /// Where a page of actions begins.
    enum ActionsPlace {
        case end
        case before(RecordedAction.ID)
        case after(RecordedAction.ID)
        case at(Revision)
        case one(RecordedAction.ID)
    }

    /// Writes a page of actions, the newest first.
    func writeActions(
        _ place: ActionsPlace,
        _ filter: ActionFilter,
        limit: Int,
        _ budget: inout ReadBudget,
        to writer: inout JSONWriter
    ) throws {
        var page = ActionsPage(limit: limit, filter: filter, row: row)
        switch place {
        case .one(let id):
            page.row.isWhole = true
            if let record = try reader.records(after: id.sequence.previous, maxBytes: 1).first {
                try page.add(record) { $0 == id }
            }
            guard page.hasRows else { throw GatewayFailure(.noSuchPath, "the journal has no such action \(id)") }
        case .after(let id): try readForward(after: id, into: &page, &budget)
        case .end: try readBackward(before: endOfActions(), into: &page, &budget)
        // A cursor may be from a history that went further.
        case .before(let id): try readBackward(before: min(id, endOfActions()), into: &page, &budget)
        case .at(let revision):
            _ = try keptSnapshots(reaching: revision)
            var sequence = try reader.sequence(at: revision) ?? JournalSequence(0)
            // The batch that contains the revision, if it is not the end of one.
            if let next = try reader.records(after: sequence, maxBytes: 1).first, next.from < revision {
                sequence = next.sequence
            }
            try readBackward(before: RecordedAction.ID(sequence: sequence.next, index: 0), into: &page, &budget)
        }
        page.write(to: &writer)
    }

    private func endOfActions() throws -> RecordedAction.ID {
        RecordedAction.ID(sequence: try reader.contents().last.next, index: 0)
    }

    private func readBackward(
        before id: RecordedAction.ID,
        into page: inout ActionsPage,
        _ budget: inout ReadBudget
    ) throws {
        let oldest = try keptSnapshots()[0]
        var end = id.index > 0 ? id.sequence.next : id.sequence
        while !page.isFull {
            let records = try reader.records(before: end, after: oldest.sequence, maxBytes: ReadBudget.window)
            guard let last = records.last else { return }
            for record in records where !page.isFull {
                try page.add(record) { $0 < id }
                budget.spend(record.body.count)
            }
            end = last.sequence
            if budget.isSpent { return page.end(before: RecordedAction.ID(sequence: end, index: 0)) }
        }
    }

    /// The oldest rows after an action, also the newest first.
    private func readForward(
        after id: RecordedAction.ID,
        into page: inout ActionsPage,
        _ budget: inout ReadBudget
    ) throws {
        page.isForward = true
        var last = id.sequence.previous
        while !page.isFull {
            let records = try reader.records(after: last, maxBytes: ReadBudget.window)
            guard let end = records.last else { return }
            for record in records where !page.isFull {
                try page.add(record) { $0 > id }
                budget.spend(record.body.count)
            }
            last = end.sequence
            if budget.isSpent { return page.end(before: RecordedAction.ID(sequence: last, index: .max)) }
        }
    }

    // MARK: Blame

    private static let maxActionsOfChange = 50

    func writeBlame(
        _ path: [String],
        at revision: Revision?,
        before: JournalSequence?,
        limit: Int,
        _ budget: inout ReadBudget,
        to writer: inout JSONWriter
    ) throws {
        let deadline = budget.deadline
        let blame = try reader.blame(
            path,
            at: revision,
            before: before,
            limit: limit,
            maxBytes: budget.bytesLeft,
            until: { .now >= deadline }
        )
        writer.member("path", JSONPointer.text(of: path))
        // The last change that fits the answer, if not all do.
        var last: Blame.Change?
        writer.array("changes") { writer in
            for change in blame.changes {
                writer.object { write(change, hidden.inside(path), to: &$0) }
                guard writer.bytes.count > StateNodes.maxBytes else { continue }
                last = change
                break
            }
        }
        writer.member("searchedTo", last?.from ?? blame.searchedTo)
        if last == nil, let boundary = blame.boundary { writer.member("boundary", boundary.rawValue) }
        writer.member("next", (last?.sequence ?? blame.next)?.description)
        writer.member("complete", last == nil && blame.isComplete)
    }

    private func write(_ change: Blame.Change, _ hidden: HiddenPaths, to writer: inout JSONWriter) {
        writer.member("revision", change.revision)
        ActionRow.writeBatch(change.from, change.to, to: &writer)
        writer.member("time", change.time)
        writer.member("kind", change.kind.rawValue)
        if let value = change.value, !hidden.hidesAll {
            if value.isContainer {
                writer.member("summary", StateNodes.summary(of: value, hiding: hidden))
            } else {
                writer.key("value")
                StateNodes.limited(value, hiding: hidden, to: &writer)
            }
        }
        // The likeliest come first.
        writer.array("actions") { writer in
            for action in change.actions.prefix(Self.maxActionsOfChange) { row.write(action, to: &writer) }
        }
        if change.actions.count > Self.maxActionsOfChange { writer.member("cut", change.actions.count) }
        writer.member("exact", change.isExact)
    }

    // MARK: Timeline

    /// Writes the history in intervals with equally many records.
    func writeTimeline(buckets count: Int, _ tail: JournalTail?, to writer: inout JSONWriter) throws {
        let (snapshots, contents) = (try keptSnapshots(), try reader.contents())
        let oldest = snapshots[0]
        let (first, last) = (oldest.sequence.rawValue, contents.last.rawValue)
        let size = max(1, (last - first + UInt64(count) - 1) / UInt64(count))
        var from = oldest.revision
        var buckets: [(from: Revision, time: Int64, applied: Int, rejected: Int?)] = []
        for start in stride(from: first, to: last, by: Int(size)) {
            let end = min(start + size, last)
            // One record at its end tells the revision and, by its first action, the time.
            guard let record = try reader.records(after: JournalSequence(end - 1), maxBytes: 1).first else { break }
            let time = (try? BatchRecord(reading: record).runs.first?.time.milliseconds) ?? 0
            let rejected = tail?.rejections(in: start + 1...end)
            buckets.append((from, time, record.to.distance(beyond: from), rejected))
            from = record.to
        }
        writer.member("oldest", oldest.revision)
        writer.member("newest", from)
        writer.array("buckets") { writer in
            for bucket in buckets {
                writer.array { writer in
                    writer.integer(bucket.from.rawValue)
                    writer.integer(bucket.time)
                    writer.integer(bucket.applied)
                    if let rejected = bucket.rejected { writer.integer(rejected) } else { writer.null() }
                }
            }
        }
        writer.array("epochs") { writer in
            for epoch in contents.epochs {
                writer.object { writer in
                    writer.member("epoch", epoch.epoch)
                    writer.member("revision", epoch.revision)
                    writer.member("time", epoch.time)
                }
            }
        }
        writer.array("snapshots") { writer in for entry in snapshots { writer.integer(entry.revision.rawValue) } }
    }
}

/// The rows of an answer.
private struct ActionsPage {
    let limit: Int
    let filter: ActionFilter
    var row: ActionRow
    /// Whether records are added in their order; otherwise in reverse.
    var isForward = false
    private var rows: [[UInt8]] = []
    private var bytes = 0
    private var lastRow: RecordedAction.ID?
    private var next: RecordedAction.ID?
    private var searched: (revision: Revision, time: Timestamp?)?

    init(limit: Int, filter: ActionFilter, row: ActionRow) {
        (self.limit, self.filter, self.row) = (limit, filter, row)
    }

    var hasRows: Bool { !rows.isEmpty }

    var isFull: Bool { rows.count >= limit || bytes >= StateNodes.maxBytes }

    mutating func add(_ record: JournalRecord, where isWanted: (RecordedAction.ID) -> Bool) throws {
        searched = (record.from, nil)
        guard filter.mayHave(record) else { return }
        let actions = try RecordedAction.list(reading: record)
        searched = (record.from, actions.first?.time)
        if actions.isEmpty, filter.permitsConversions, isWanted(RecordedAction.ID(sequence: record.sequence, index: 0))
        {
            var writer = JSONWriter()
            row.writeConversion(record, at: nil, to: &writer)
            append(writer.bytes, RecordedAction.ID(sequence: record.sequence, index: 0))
        }
        for action in isForward ? actions : actions.reversed()
        where !isFull && isWanted(action.id) && filter.permits(action) {
            var writer = JSONWriter()
            row.write(action, to: &writer)
            append(writer.bytes, action.id)
        }
    }

    private mutating func append(_ json: [UInt8], _ id: RecordedAction.ID) {
        rows.append(json)
        bytes += json.count
        lastRow = id
        if isFull { next = id }
    }

    /// The budget is spent.
    mutating func end(before id: RecordedAction.ID) { next = next ?? id }

    func write(to writer: inout JSONWriter) {
        writer.array("actions") { writer in
            for row in isForward ? rows.reversed() : rows { writer.json(row) }
        }
        writer.member("next", next?.description)
        writer.key("searchedTo")
        guard let searched else { return writer.null() }
        writer.object { writer in
            writer.member("revision", searched.revision)
            if let time = searched.time { writer.member("time", time.milliseconds) }
        }
    }
}
