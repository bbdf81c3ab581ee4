package import StatecastCoding
package import StatecastCore

/// The fields of a record other than its actions.
package struct RecordHead: Hashable, Sendable {
    /// The incarnation that writes the record.
    package let epoch: Epoch
    package let from: Revision
    package let to: Revision
    /// Of the state after the batch.
    package let summary: Summary
    /// See ``BatchRecord/migrations``.
    package let migrations: Int?

    package init(epoch: Epoch, from: Revision, to: Revision, summary: Summary, migrations: Int? = nil) {
        self.epoch = epoch
        self.from = from
        self.to = to
        self.summary = summary
        self.migrations = migrations
    }
}

/// The actions of an open batch with their outcomes, for its record.
///
/// Refers to actions by the ranges of their byte strings in the batch's frames. Adjacent applied actions are one piece,
/// so their bytes are copied once, into the record. ``BatchRecord`` reads it.
package struct RecordEntries: Hashable, Sendable {
    fileprivate struct Run: Hashable {
        let session: SessionID
        let opened: JournalSequence
        let first: ActionNumber
        let time: Timestamp
        let user: String?
        /// The index of its first piece.
        var start = 0
        /// The number of its actions.
        var count = 0

        func isContinued(by next: Run) -> Bool {
            session == next.session && opened == next.opened && first.advanced(by: count) == next.first
                && time == next.time && user == next.user
        }
    }

    /// Where an action is.
    package enum Source: Hashable, Sendable {
        /// In the frame with this index, in this range.
        case item(Int, Range<Int>)
        /// In no frame, or changed by a middleware.
        case bytes([UInt8])

        /// Not recorded: it was too large, or could not be decoded or encoded.
        package static let absent = Source.bytes([])
    }

    /// Consecutive applied actions of a run, or one that was rejected.
    fileprivate struct Piece: Hashable {
        /// The index of the frame with the byte strings; `nil` if they are in `encoded`.
        let frame: Int?
        var range: Range<Int>
        let rejection: Rejection?
    }

    private var runs: [Run] = []
    private var pieces: [Piece] = []
    /// The byte strings of actions that are in no frame.
    private var encoded: [UInt8] = []
    /// The run that begins with the next action, unless that continues the last run.
    private var next: Run?

    package init() {}

    /// Begins a run of a session's actions that arrived together. `first` is the number of the next action.
    package mutating func begin(
        _ session: SessionID,
        opened: JournalSequence,
        first: ActionNumber,
        time: Timestamp,
        user: String?
    ) {
        next = Run(session: session, opened: opened, first: first, time: time, user: user)
    }

    /// Appends an applied action, in the form in which it reached the reducer.
    ///
    /// Frames have the indices with which ``body(_:frames:forgotten:patch:maxMessageBytes:)`` gets them.
    package mutating func applied(_ source: Source) { append(source, nil) }

    /// Appends a rejected action, in the form in which it arrived.
    package mutating func rejected(_ source: Source, _ rejection: Rejection) { append(source, rejection) }

    private mutating func append(_ source: Source, _ rejection: Rejection?) {
        if var run = next.take(), runs.last?.isContinued(by: run) != true {
            run.start = pieces.count
            runs.append(run)
        }
        guard let run = runs.indices.last else { preconditionFailure("an action before the first run") }
        runs[run].count += 1
        let (frame, range): (Int?, Range<Int>)
        switch source {
        case .item(let index, let item): (frame, range) = (index, item)
        case .bytes(let action):
            let start = encoded.count
            encoded += CBORWriter.bytes(reserving: action.count + 9) { $0.bytes(action) }
            (frame, range) = (nil, start..<encoded.count)
        }
        if let last = pieces.indices.last, last >= runs[run].start, rejection == nil, pieces[last].rejection == nil,
            pieces[last].frame == frame, pieces[last].range.upperBound == range.lowerBound
        {
            pieces[last].range = pieces[last].range.lowerBound..<range.upperBound
        } else {
            pieces.append(Piece(frame: frame, range: range, rejection: rejection))
        }
    }

    // MARK: Encoding

    /// The record in CBOR; later versions may append elements.
    ///
    /// - Parameters:
    ///   - frames: the frames whose actions were appended.
    ///   - forgotten: the sessions that were evicted to make room for others.
    ///   - patch: from the state at `from` to the state at `to`; empty if these are equal.
    ///   - maxMessageBytes: the maximum size of the messages that a session remembers. Older ones are dropped.
    package func body(
        _ head: RecordHead,
        frames: [ActionsFrame],
        forgotten: [SessionID],
        patch: [UInt8],
        maxMessageBytes: Int
    ) -> [UInt8] {
        let dropped = droppedMessages(maxBytes: maxMessageBytes)
        var body: [UInt8] = []
        body.reserveCapacity(maxBytes + 18 * forgotten.count + patch.count)
        // Writes what is between the byte strings.
        var writer = CBORWriter(reserving: 256)
        writer.array(count: head.migrations == nil ? 8 : 9)
        writer.write(head.epoch)
        writer.write(head.from)
        writer.write(head.to)
        writer.unsigned(head.summary.digest)
        writer.write(count: head.summary.bytes)
        writer.array(count: runs.count)
        for (index, run) in runs.enumerated() {
            run.write(to: &writer)
            for index in pieces(of: index) {
                let piece = pieces[index]
                if piece.rejection != nil { writer.array(count: 3) }
                writer.move(to: &body)
                body.append(contentsOf: piece.frame.map { frames[$0][piece.range] } ?? encoded[piece.range])
                guard let rejection = piece.rejection else { continue }
                writer.write(dropped.contains(index) ? Rejection(rejection.code, "") : rejection)
            }
        }
        writer.array(count: forgotten.count)
        for session in forgotten { writer.write(session) }
        if patch.isEmpty { writer.null() }
        writer.move(to: &body)
        body.append(contentsOf: patch)
        if let migrations = head.migrations { writer.write(count: migrations) }
        writer.move(to: &body)
        return body
    }

    private func pieces(of run: Int) -> Range<Int> {
        runs[run].start..<(run + 1 < runs.count ? runs[run + 1].start : pieces.count)
    }

    /// The indices of the pieces whose messages are not remembered: each session keeps the newest ones.
    private func droppedMessages(maxBytes: Int) -> Set<Int> {
        var dropped: Set<Int> = []
        var bytes: [SessionID: Int] = [:]
        for run in runs.indices.reversed() {
            for index in pieces(of: run).reversed() {
                guard let rejection = pieces[index].rejection else { continue }
                bytes[runs[run].session, default: 0] += rejection.message.utf8.count
                if bytes[runs[run].session, default: 0] > maxBytes { dropped.insert(index) }
            }
        }
        return dropped
    }

    /// An upper bound of the size of the head and the runs.
    private var maxBytes: Int {
        let runBytes = runs.reduce(64) { $0 + 64 + ($1.user?.utf8.count ?? 0) }
        return pieces.reduce(runBytes) { bytes, piece in
            guard let rejection = piece.rejection else { return bytes + piece.range.count }
            return bytes + piece.range.count + rejection.code.rawValue.utf8.count + rejection.message.utf8.count + 20
        }
    }
}

extension RecordEntries.Run {
    /// Writes the run up to the head of its actions.
    fileprivate func write(to writer: inout CBORWriter) {
        writer.array(count: 6)
        writer.write(session)
        writer.write(opened)
        writer.write(first)
        writer.write(time)
        if let user { writer.text(user) } else { writer.null() }
        writer.array(count: count)
    }
}
