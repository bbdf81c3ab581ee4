import StatecastCore

@testable import StatecastCoding
@testable import StatecastJournal
@testable import StatecastProtocol

/// Laws of the readers of the journal and of session files, which hold for any bytes. Tests and a fuzzer check them.
///
/// The first byte of an input chooses the reader.
enum RecordLaws {
    static func check(_ bytes: [UInt8]) throws(BrokenLaw) {
        var script = Script(bytes)
        switch script.below(7) {
        case 0: try checkRecord(script.rest())
        case 1: try checkContext(script.rest())
        case 2: try checkSnapshotHeader(script.rest())
        case 3: try checkReplay(script)
        case 4: if let session = try? SavedSession(decoding: script.rest()) { try check(session) }
        case 5: try checkChange(script.rest())
        default: try checkSessionFile(script)
        }
    }

    // MARK: The journal

    /// A record that is read can be written, and has the same content then.
    private static func checkRecord(_ bytes: [UInt8]) throws(BrokenLaw) {
        guard let record = try? BatchRecord(decoding: bytes) else { return }
        let body = body(of: record)
        let again = try must("an encoded record can be read") { try BatchRecord(decoding: body) }
        try require(again.actions == record.actions, "\(record.runs) are read again as \(again.runs)")
        var (left, right) = (record, again)
        (left.runs, right.runs) = ([], [])
        try require(left == right, "\(left) is read again as \(right)")
        try require(Self.body(of: again) == body, "\(record) has two encodings")
    }

    private static func body(of record: BatchRecord) -> [UInt8] {
        var entries = RecordEntries()
        for run in record.runs {
            entries.begin(run.session, opened: run.opened, first: run.first, time: run.time, user: run.user)
            for entry in run.entries {
                if let rejection = entry.rejection {
                    entries.rejected(.bytes(entry.action), rejection)
                } else {
                    entries.applied(.bytes(entry.action))
                }
            }
        }
        let head = RecordHead(
            epoch: record.epoch,
            from: record.from,
            to: record.to,
            summary: record.summary,
            migrations: record.migrations
        )
        return entries.body(
            head,
            frames: [],
            forgotten: record.forgotten,
            patch: record.patch,
            maxMessageBytes: .max
        )
    }

    private static func checkContext(_ bytes: [UInt8]) throws(BrokenLaw) {
        guard let context = try? SnapshotContext(decoding: bytes) else { return }
        let again = try must("an encoded context can be read") { try SnapshotContext(decoding: context.encoded) }
        try require(again == context, "\(context) is read again as \(again)")
        try require(again.encoded == context.encoded, "\(context) has two encodings")
    }

    private static func checkSnapshotHeader(_ bytes: [UInt8]) throws(BrokenLaw) {
        let start = Array(bytes.prefix(SnapshotHeader.byteCount))
        guard let header = try? SnapshotHeader(decoding: start, fileBytes: bytes.count) else { return }
        let (context, state) = (header.contextBytes, header.stateBytes)
        try require(context >= 0 && state >= 0, "\(header) has negative sizes")
        let count = SnapshotHeader.byteCount + context + state + SnapshotHeader.checksumByteCount
        try require(count == bytes.count, "\(header) has \(count) bytes, the file \(bytes.count)")
        try require(header.encoded == start, "\(header) has two forms, one is \(start)")
    }

    private static let limits = {
        var limits = Limits()
        limits.maxWindowActions = 6
        limits.maxSessionMessageBytes = 8
        limits.maxFrameBytes = 512
        limits.maxRingUpdates = 3
        limits.maxRingBytes = 12
        return limits
    }()

    /// A snapshot's context, and the records after it: a history that replays them stays within the limits.
    private static func checkReplay(_ script: Script) throws(BrokenLaw) {
        var script = script
        var history = History(lineage: Lineage(bits: 1), epoch: Epoch(2), summary: Summary(of: .null))
        if script.oneIn(2), let context = try? SnapshotContext(decoding: script.data()) {
            history = History(
                lineage: history.lineage,
                epoch: history.epoch,
                epochs: [],
                from: context,
                at: script.quantity(),
                script.quantity()
            )
        }
        while !script.isAtEnd {
            let follows = !script.oneIn(4)
            guard var record = try? BatchRecord(decoding: script.data()) else { continue }
            if follows { record.follow(history) }
            let before = history
            do throws(CodingFailure) {
                try history.replay(record, at: before.sequence.next, limits: limits)
            } catch {
                try require(!error.message.isEmpty, "a failure has a message")
                return
            }
            try check(history, after: record, from: before)
        }
    }

    private static func check(
        _ history: History,
        after record: BatchRecord,
        from before: History
    ) throws(BrokenLaw) {
        try require(record.from == before.head, "a record from \(record.from) is replayed at \(before.head)")
        try require(history.head == record.to && history.summary == record.summary, "the history ends with its record")
        for session in record.runs.map(\.session) {
            guard let outcomes = history.sessions[session]?.outcomes else { throw BrokenLaw("\(session) is unknown") }
            try require(outcomes.count <= limits.maxWindowActions, "\(outcomes.count) outcomes are remembered")
            let bytes = outcomes.messageBytes
            try require(bytes <= limits.maxSessionMessageBytes, "\(bytes) bytes of messages are remembered")
        }
        guard let start = history.ring.start else { return }
        guard let updates = history.ring.updates(from: start, head: history.head) else {
            throw BrokenLaw("the updates from \(start) do not lead to \(history.head)")
        }
        try require(updates.count <= limits.maxRingUpdates, "\(updates.count) updates are kept")
        let bytes = updates.reduce(0) { $0 + $1.patch.count }
        try require(bytes <= limits.maxRingBytes, "updates of \(bytes) bytes are kept")
        var end = start
        for update in updates {
            try require(update.from == end && update.to > end, "an update from \(update.from) is kept at \(end)")
            end = update.to
        }
        try require(end == history.head, "the updates end at \(end), the history at \(history.head)")
    }

    // MARK: Session files

    /// A session that is read can be written, and a sender can resume it.
    private static func check(_ session: SavedSession) throws(BrokenLaw) {
        let again = try must("an encoded session can be read") { try SavedSession(decoding: session.encoded) }
        try require(again == session, "\(session) is read again as \(again)")
        try require(again.encoded == session.encoded, "\(session) has two encodings")
        let actions = session.actions
        for (action, next) in zip(actions, actions.dropFirst()) {
            try require(next.ticket == action.ticket.next, "\(next.ticket) follows \(action.ticket)")
        }
        if let last = actions.last { try require(last.ticket == session.last, "the session ends at \(session.last)") }
        let count = actions.count { $0.outcome == nil }
        try require(session.outstandingCount == count, "\(session.outstandingCount) of \(count) are outstanding")
        if (try? session.requireResumable()) != nil { try SenderRun.check(resuming: session) }
    }

    private static func checkChange(_ bytes: [UInt8]) throws(BrokenLaw) {
        guard let change = try? SessionChange(decoding: bytes) else { return }
        let again = try must("an encoded change can be read") { try SessionChange(decoding: change.encoded) }
        try require(again == change, "\(change) is read again as \(again)")
    }

    /// A session and its changes.
    private static func checkSessionFile(_ script: Script) throws(BrokenLaw) {
        var script = script
        var session = SavedSession(store: Topic.store, SessionSecret(high: 0, low: 1))
        if script.oneIn(2), let read = try? SavedSession(decoding: script.data()) { session = read }
        while !script.isAtEnd {
            let isDropping = script.oneIn(2)
            guard let change = try? SessionChange(decoding: script.data()) else { continue }
            do throws(CodingFailure) { try session.apply(change) } catch {
                try require(!error.message.isEmpty, "a failure has a message")
                return
            }
            if isDropping { session.dropResolved(after: change) }
            try check(session)
        }
    }
}

extension BatchRecord {
    /// An action with all that its record has of it.
    fileprivate struct Recorded: Hashable {
        let session: SessionID
        let opened: JournalSequence
        let number: ActionNumber
        let time: Timestamp
        let user: String?
        let entry: Entry
    }

    /// The actions one by one: a record may divide them into other runs.
    fileprivate var actions: [Recorded] {
        runs.flatMap { run in
            run.entries.enumerated().map { index, entry in
                Recorded(
                    session: run.session,
                    opened: run.opened,
                    number: run.first.advanced(by: index),
                    time: run.time,
                    user: run.user,
                    entry: entry
                )
            }
        }
    }

    /// Makes the record follow a history: its revisions, and the numbers of its sessions.
    fileprivate mutating func follow(_ history: History) {
        let applied = runs.reduce(0) { $0 + $1.entries.count { $0.rejection == nil } }
        from = history.head
        to = patch.isEmpty ? from : from.advanced(by: max(1, applied))
        var expected: [SessionID: ActionNumber] = [:]
        for index in runs.indices {
            let session = runs[index].session
            let known = forgotten.contains(session) ? nil : history.sessions[session]?.expected
            runs[index].first = expected[session] ?? known ?? runs[index].first
            expected[session] = runs[index].first.advanced(by: runs[index].entries.count)
        }
    }
}
