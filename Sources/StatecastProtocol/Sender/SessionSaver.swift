import DequeModule

/// Why changes of a session cannot be saved any more.
package struct SaveFailure: Error, Hashable {
    package let message: String
    /// Whether the changes that were passed to the writer may be on the disk, where the next process finds them.
    package let mayBeSaved: Bool

    package init(_ message: String, mayBeSaved: Bool) {
        self.message = message
        self.mayBeSaved = mayBeSaved
    }
}

/// Decides which part of a session to save and when: an action reaches the outbox only after it is saved, and frames
/// wait until the identity of their session is saved. An outcome that the sender decides, which no receipt contains, is
/// reported after it is saved.
struct SessionSaver: Hashable, Sendable {
    /// A change that was passed to the writer and whose write was not confirmed.
    private struct Unconfirmed: Hashable, Sendable {
        let chunks: [ActionChunk]
        let decided: [ResolvedRun]
        /// The oldest number without a receipt.
        let first: ActionNumber
    }

    private var change = SessionChange()
    /// The outcomes of the change that the sender decided.
    private var decided: [ResolvedRun] = []
    private var unconfirmed: Deque<Unconfirmed> = []
    private var checkpoint: SessionCheckpoint
    /// The number of changes on the disk.
    private var saved = 0
    /// The number of changes that must be on the disk before a frame may be sent.
    private var barrier = 0
    private var needsBarrier = false
    private var hasFailed = false
    /// Whether the unconfirmed changes may be on the disk nevertheless, after a failure.
    private var mayBeSaved = false
    /// The last action on the disk, the last one that may be there, and the last submitted one.
    private var last: Ticket
    private var lastUncertain: Ticket
    private var lastSubmitted: Ticket

    /// Continues a saved session.
    init(_ session: SavedSession) {
        checkpoint = session.checkpoint
        (last, lastUncertain, lastSubmitted) = (session.last, session.last, session.last)
    }

    /// Whether frames may be sent.
    var mayPush: Bool { barrier <= saved }

    // MARK: Changes

    /// Adds the actions of a chunk, and its input that is no action and already has its outcome.
    mutating func enqueue(_ chunk: ActionChunk) {
        change.enqueue(chunk)
        lastSubmitted = chunk.last
    }

    /// Adds the outcome of actions, from a receipt: if it is lost, the next process receives it again.
    mutating func resolve(_ run: ResolvedRun) { change.resolve(run) }

    /// Adds the outcome of actions that the sender decides. It is reported when it is saved: otherwise the next process
    /// could decide another one, or send the actions again.
    mutating func decide(_ run: ResolvedRun) {
        change.resolve(run)
        decided.append(run)
        // The actions get no number, and a resumed session needs that information.
        if run.sent == nil { needsBarrier = true }
    }

    /// The outcomes up to `ticket` are not needed any more.
    mutating func acknowledge(upTo ticket: Ticket) { change.acknowledge(upTo: ticket) }

    /// The whole input was read.
    mutating func endInput(at mark: InputMark) { change.endInput(at: mark) }

    // MARK: Turns

    /// Ends a turn, before any frame is sent.
    ///
    /// - Returns: the change to write after the previous ones; `nil` if nothing changed.
    mutating func flush(_ checkpoint: SessionCheckpoint) -> SessionChange? {
        if checkpoint != self.checkpoint {
            change.checkpoint = checkpoint
            if !checkpoint.identifiesActions(like: self.checkpoint) { needsBarrier = true }
            self.checkpoint = checkpoint
        }
        guard !hasFailed, !change.isEmpty else { return nil }
        if !unreported.isEmpty { change.keepsOutcomes = true }
        defer { (change, decided, needsBarrier) = (SessionChange(), [], false) }
        unconfirmed.append(Unconfirmed(chunks: change.chunks, decided: decided, first: checkpoint.first))
        if needsBarrier { barrier = saved + unconfirmed.count }
        return change
    }

    /// The first `count` changes are on the disk.
    ///
    /// - Returns: the actions that may be sent now, the outcomes that may be reported, and the saved number from which
    ///   on receipts are needed.
    mutating func written(_ count: Int) -> (chunks: [ActionChunk], decided: [ResolvedRun], first: ActionNumber?) {
        var (chunks, decided): ([ActionChunk], [ResolvedRun]) = ([], [])
        var first: ActionNumber?
        while saved < count, let change = unconfirmed.popFirst() {
            saved += 1
            last = change.chunks.last?.last ?? last
            chunks += change.chunks
            decided += change.decided
            first = change.first
        }
        // The file may drop them from the next change on.
        if !decided.isEmpty { self.change.keepsOutcomes = false }
        return (chunks, decided, first)
    }

    /// No further change is written.
    ///
    /// - Returns: `false` if that was known.
    mutating func failed(_ failure: SaveFailure) -> Bool {
        guard !hasFailed else { return false }
        hasFailed = true
        mayBeSaved = failure.mayBeSaved
        if failure.mayBeSaved { lastUncertain = unconfirmed.last { !$0.chunks.isEmpty }?.chunks.last?.last ?? last }
        return true
    }

    /// The decided outcomes that are not known to be on the disk.
    private var unreported: [ResolvedRun] { unconfirmed.flatMap(\.decided) + decided }

    /// The outcomes of these actions, when the sender gives them up.
    func unreported(because cause: String) -> [ResolvedRun] {
        let uncertain = ResolvedRun.Kind.unknown(because: "\(cause); the session file may contain its outcome")
        return unreported.map {
            ResolvedRun($0.first, count: $0.count, sent: nil, mayBeSaved ? uncertain : .rejected(.kept(because: cause)))
        }
    }

    /// The outcomes of the actions that are not known to be on the disk, when the sender gives them up.
    func unsaved(because cause: String) -> [ResolvedRun] {
        // The next process sends those that are in the file.
        let middle = max(last, lastUncertain)
        let uncertain = ResolvedRun.Kind.unknown(because: "\(cause); the session file may contain the action")
        let runs = [(last, middle, uncertain), (middle, lastSubmitted, .rejected(.notSent(because: cause)))]
        return runs.compactMap { before, last, kind in
            let count = last.distance(beyond: before)
            return count > 0 ? ResolvedRun(before.next, count: count, sent: nil, kind) : nil
        }
    }
}
