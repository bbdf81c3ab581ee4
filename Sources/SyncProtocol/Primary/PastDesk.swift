import OrderedCollections

/// The joiners whose position lies before the updates that are kept in memory: what they miss is read from the journal.
///
/// One read at a time, and it is finished even if all who waited for it have left: whoever asks again and again costs no
/// more than that.
struct PastDesk: Hashable, Sendable {
    /// Behind which revision is being read.
    private var reading: Revision?
    /// Those that wait for it.
    private var awaiting: OrderedSet<JoinDesk.Request> = []
    /// What was read, for those that waited for it.
    private(set) var ready: [Arrival] = []

    /// What was read for a joiner.
    struct Arrival: Hashable, Sendable {
        let request: JoinDesk.Request
        /// From the joiner's position on; `nil` if it is too much, or no longer kept.
        let updates: [Update]?
    }

    var count: Int { awaiting.count + ready.count }

    /// What a joiner has to do.
    enum Turn {
        /// It is the first: what it misses has to be read.
        case read
        /// The same is being read for another one.
        case wait
        /// Something else is being read.
        case elsewhere
    }

    mutating func await(_ request: JoinDesk.Request, behind revision: Revision) -> Turn {
        guard reading == nil || reading == revision else { return .elsewhere }
        awaiting.append(request)
        defer { reading = revision }
        return reading == nil ? .read : .wait
    }

    mutating func arrived(_ updates: [Update]?, behind revision: Revision) {
        guard reading == revision else { return }
        reading = nil
        ready += awaiting.map { Arrival(request: $0, updates: updates) }
        awaiting = []
    }

    mutating func next() -> Arrival? { ready.isEmpty ? nil : ready.removeFirst() }

    mutating func leave(_ request: JoinDesk.Request) -> Bool {
        if awaiting.remove(request) != nil { return true }
        guard let index = ready.firstIndex(where: { $0.request == request }) else { return false }
        ready.remove(at: index)
        return true
    }
}
