package import StateCoding
package import StateCore

/// What a record states beside its actions.
package struct RecordHead: Hashable, Sendable {
    /// The incarnation that writes the record.
    package let epoch: Epoch
    package let from: Revision
    package let to: Revision
    /// Of the state after the batch.
    package let summary: Summary

    package init(epoch: Epoch, from: Revision, to: Revision, summary: Summary) {
        self.epoch = epoch
        self.from = from
        self.to = to
        self.summary = summary
    }
}

/// The actions of an open batch with their outcomes, for its record.
///
/// Refers to actions by the ranges of their byte strings in the batch's frames; consecutive ones share an entry here.
/// So their bytes are copied once, into the record. ``BatchRecord`` reads it.
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

    /// Where a rejected action is.
    package enum Source: Hashable, Sendable {
        /// In the frame with this index, in this range.
        case item(Int, Range<Int>)
        case bytes([UInt8])
        /// Nowhere: it was too large, or could not be decoded.
        case none
    }

    /// Where the byte strings of a piece are.
    fileprivate enum Place: Hashable {
        /// In the frame with this index.
        case frame(Int)
        /// In `encoded`.
        case encoded
        /// An empty one.
        case none
    }

    /// Consecutive applied actions of a run, or one that was rejected.
    fileprivate struct Piece: Hashable {
        let place: Place
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

    /// Appends an applied action of a frame, or `count` of them that are next to each other.
    ///
    /// - Parameter frame: the index of the frame among those that ``body(_:frames:forgotten:patch:messageBytesMax:)``
    ///   gets.
    package mutating func applied(_ frame: Int, _ range: Range<Int>, count: Int = 1) {
        append(.frame(frame), range, count: count)
    }

    /// Appends an applied action that a middleware changed, or that came in no frame.
    package mutating func applied(_ action: [UInt8]) {
        append(.encoded, store(action), count: 1)
    }

    /// Appends a rejected action.
    package mutating func rejected(_ source: Source, _ rejection: Rejection) {
        switch source {
        case .item(let frame, let range): append(.frame(frame), range, rejection, count: 1)
        case .bytes(let action): append(.encoded, store(action), rejection, count: 1)
        case .none: append(.none, 0..<0, rejection, count: 1)
        }
    }

    private mutating func store(_ action: [UInt8]) -> Range<Int> {
        let start = encoded.count
        encoded += CBORWriter.bytes(reserving: action.count + 9) { $0.bytes(action) }
        return start..<encoded.count
    }

    private mutating func append(_ place: Place, _ range: Range<Int>, _ rejection: Rejection? = nil, count: Int) {
        if var run = next.take(), runs.last?.isContinued(by: run) != true {
            run.start = pieces.count
            runs.append(run)
        }
        guard let run = runs.indices.last else { preconditionFailure("an action before the first run") }
        runs[run].count += count
        if let last = pieces.indices.last, last >= runs[run].start, rejection == nil, pieces[last].rejection == nil,
            pieces[last].place == place, pieces[last].range.upperBound == range.lowerBound
        {
            pieces[last].range = pieces[last].range.lowerBound..<range.upperBound
        } else {
            pieces.append(Piece(place: place, range: range, rejection: rejection))
        }
    }

    // MARK: Rolling back

    /// A place to return to.
    package struct Mark: Hashable, Sendable {
        fileprivate let runs: Int
        fileprivate let pieces: Int
        fileprivate let encoded: Int
        // These grow in place.
        fileprivate let lastRun: Run?
        fileprivate let lastPiece: Piece?
        fileprivate let next: Run?
    }

    package var mark: Mark {
        Mark(
            runs: runs.count,
            pieces: pieces.count,
            encoded: encoded.count,
            lastRun: runs.last,
            lastPiece: pieces.last,
            next: next
        )
    }

    /// Removes what was added since a mark was taken, which must not have been removed itself.
    package mutating func rewind(to mark: Mark) {
        runs.removeLast(runs.count - mark.runs)
        pieces.removeLast(pieces.count - mark.pieces)
        encoded.removeLast(encoded.count - mark.encoded)
        if let run = mark.lastRun { runs[runs.count - 1] = run }
        if let piece = mark.lastPiece { pieces[pieces.count - 1] = piece }
        next = mark.next
    }

    // MARK: Encoding

    /// The record, as ``BatchRecord/encoded`` writes it after ``BatchRecord/dropMessages(bytesMax:)``.
    ///
    /// - Parameters:
    ///   - frames: the frames whose actions were appended.
    ///   - forgotten: the sessions that were evicted to make room for others.
    ///   - patch: from the state at `from` to the state at `to`; ignored if these are equal.
    ///   - messageBytesMax: the most bytes of rejection messages that a session remembers. Older messages are dropped.
    package func body(
        _ head: RecordHead,
        frames: [ActionsFrame],
        forgotten: [SessionID],
        patch: [UInt8],
        messageBytesMax: Int
    ) -> [UInt8] {
        let dropped = droppedMessages(bytesMax: messageBytesMax)
        var body: [UInt8] = []
        body.reserveCapacity(bytesMax + 17 * forgotten.count + patch.count)
        // Writes what is between the byte strings.
        var writer = CBORWriter(reserving: 256)
        writer.array(count: 8)
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
                switch piece.place {
                case .frame(let frame):
                    writer.move(to: &body)
                    body.append(contentsOf: frames[frame][piece.range])
                case .encoded:
                    writer.move(to: &body)
                    body.append(contentsOf: encoded[piece.range])
                case .none: writer.bytes([])
                }
                guard let rejection = piece.rejection else { continue }
                writer.write(dropped.contains(index) ? Rejection(rejection.code, "") : rejection)
            }
        }
        writer.array(count: forgotten.count)
        for session in forgotten { writer.write(session) }
        if head.from == head.to { writer.null() }
        writer.move(to: &body)
        if head.from != head.to { body.append(contentsOf: patch) }
        return body
    }

    private func pieces(of run: Int) -> Range<Int> {
        runs[run].start..<(run + 1 < runs.count ? runs[run + 1].start : pieces.count)
    }

    /// The indices of the pieces whose messages are not remembered: each session keeps the newest ones.
    private func droppedMessages(bytesMax: Int) -> Set<Int> {
        var dropped: Set<Int> = []
        var bytes: [SessionID: Int] = [:]
        for run in runs.indices.reversed() {
            for index in pieces(of: run).reversed() {
                guard let rejection = pieces[index].rejection else { continue }
                bytes[runs[run].session, default: 0] += rejection.message.utf8.count
                if bytes[runs[run].session, default: 0] > bytesMax { dropped.insert(index) }
            }
        }
        return dropped
    }

    /// An upper bound of the size of the head and the runs.
    private var bytesMax: Int {
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
