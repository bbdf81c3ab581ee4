import DequeModule

/// Decides which part of a session to save and when: an action reaches the machine only after it is saved, and frames
/// wait until the identity of their session is saved.
package struct SessionSaver: Hashable, Sendable {
    /// A change that was passed to the writer and whose write was not confirmed.
    private struct Group: Hashable, Sendable {
        let chunks: [ActionChunk]
        let standing: SessionCheckpoint
    }

    private var change = SessionChange()
    /// The chunks of the change.
    private var chunks: [ActionChunk] = []
    private var groups: Deque<Group> = []
    private var standing: SessionCheckpoint
    /// The number of changes that were passed to the writer, and of those on the disk.
    private var flushed = 0
    private var saved = 0
    /// The number of changes that must be on the disk before a frame may be sent.
    private var barrier = 0
    private var needsBarrier = false
    /// The last action on the disk.
    package private(set) var last: Ticket

    /// Continues a saved session.
    package init(_ session: SavedSession) {
        standing = session.standing
        last = session.last
    }

    /// Whether frames may be sent.
    package var mayPush: Bool { barrier <= saved }

    // MARK: Changes

    /// Adds the actions of a chunk, and its input that is no action and already has its outcome.
    package mutating func enqueue(_ chunk: ActionChunk) {
        change.enqueue(chunk)
        chunks.append(chunk)
    }

    /// Adds the outcomes of actions.
    package mutating func resolve(_ run: ResolvedRun) {
        change.resolve(run)
        // The actions get no number, and a resumed session needs that information.
        if run.sent == nil { needsBarrier = true }
    }

    /// The outcomes up to `ticket` are not needed any more.
    package mutating func acknowledge(upTo ticket: Ticket) { change.acknowledge(upTo: ticket) }

    /// The whole input was read.
    package mutating func endInput(at mark: InputMark) { change.endInput(at: mark) }

    // MARK: Turns

    /// Ends a turn, before any frame is sent.
    ///
    /// - Returns: the change to write after the previous ones; `nil` if nothing changed.
    package mutating func flush(_ standing: SessionCheckpoint) -> SessionChange? {
        if standing != self.standing {
            change.standing = standing
            if !standing.identifiesActions(like: self.standing) { needsBarrier = true }
            self.standing = standing
        }
        guard !change.isEmpty else { return nil }
        defer { (change, chunks, needsBarrier) = (SessionChange(), [], false) }
        groups.append(Group(chunks: chunks, standing: standing))
        flushed += 1
        if needsBarrier { barrier = flushed }
        return change
    }

    /// The first `count` changes are on the disk.
    ///
    /// - Returns: the actions that may be sent now, and the saved standing.
    package mutating func written(_ count: Int) -> (chunks: [ActionChunk], standing: SessionCheckpoint?) {
        var chunks: [ActionChunk] = []
        var standing: SessionCheckpoint?
        while saved < count, let group = groups.popFirst() {
            saved += 1
            last = group.chunks.last?.last ?? last
            chunks += group.chunks
            standing = group.standing
        }
        return (chunks, standing)
    }
}
