import DequeModule

/// Decides what is to be kept of a session and when: an action goes to the machine only when it is on the disk, and frames
/// wait for what they are named by.
package struct SessionSaver: Hashable, Sendable {
    /// What was handed in and is not known to be on the disk.
    private struct Group: Hashable, Sendable {
        let taken: [SavedAction]
        let standing: SessionStanding
    }

    private var change = SessionChange()
    private var groups: Deque<Group> = []
    private var standing: SessionStanding
    /// How many changes were handed in, and how many of them are on the disk.
    private var handedIn = 0
    private var saved = 0
    /// Nothing leaves before so many are.
    private var barrier = 0
    private var mustWait = false
    /// The last action on the disk.
    package private(set) var last: Ticket

    /// Goes on with a session that was kept.
    package init(_ session: SavedSession) {
        standing = session.standing
        last = session.last
    }

    /// Whether frames may leave.
    package var mayPush: Bool { barrier <= saved }

    // MARK: What happens

    /// An action, or another piece of input that has its outcome already, was taken.
    package mutating func take(_ action: SavedAction, mark: InputMark?) { change.take(action, mark: mark) }

    /// The machine settled an action.
    package mutating func settle(_ ticket: Ticket, _ sent: SentAction?, _ settlement: Settlement) {
        change.settle(ticket, SavedOutcome(sent: sent, settlement: settlement))
        // It is passed over when numbers are given, which a resumed session has to know.
        if sent == nil { mustWait = true }
    }

    /// The outcomes up to there are not needed any more.
    package mutating func tell(through ticket: Ticket) { change.tell(through: ticket) }

    /// All of the input was taken.
    package mutating func endInput(at mark: InputMark) { change.endInput(at: mark) }

    // MARK: Turns

    /// The end of a turn, before anything leaves.
    ///
    /// - Returns: what is to be written, behind what was returned before; `nil` if there is nothing.
    package mutating func handIn(_ standing: SessionStanding) -> SessionChange? {
        if standing != self.standing {
            change.standing = standing
            if !standing.names(likewise: self.standing) { mustWait = true }
            self.standing = standing
        }
        guard !change.isEmpty else { return nil }
        defer { (change, mustWait) = (SessionChange(), false) }
        groups.append(Group(taken: change.taken, standing: standing))
        handedIn += 1
        if mustWait { barrier = handedIn }
        return change
    }

    /// So many of the changes are on the disk.
    ///
    /// - Returns: the actions that may leave now, and the standing that is kept.
    package mutating func written(_ count: Int) -> (actions: [SavedAction], standing: SessionStanding?) {
        var actions: [SavedAction] = []
        var standing: SessionStanding?
        while saved < count, let group = groups.popFirst() {
            saved += 1
            last = group.taken.last?.ticket ?? last
            actions += group.taken.filter { $0.outcome == nil }
            standing = group.standing
        }
        return (actions, standing)
    }
}
