import OrderedCollections

/// The joiners whose position lies before the updates that are kept in memory: what they miss is read from the journal.
struct PastDesk: Hashable, Sendable {
    /// Those that wait for what lies behind a revision to be read.
    private var awaiting: [Revision: OrderedSet<JoinDesk.Request>] = [:]
    /// What was read, for those that waited for it.
    private(set) var ready: [Arrival] = []

    /// What was read for a joiner.
    struct Arrival: Hashable, Sendable {
        let request: JoinDesk.Request
        /// From the joiner's position on; `nil` if it is too much, or no longer kept.
        let updates: [Update]?
    }

    var count: Int { awaiting.values.reduce(0) { $0 + $1.count } + ready.count }

    /// - Returns: whether nobody has asked for it yet, so that it has to be read.
    mutating func await(_ request: JoinDesk.Request, behind revision: Revision) -> Bool {
        awaiting[revision, default: []].append(request)
        return awaiting[revision]?.count == 1
    }

    mutating func arrived(_ updates: [Update]?, behind revision: Revision) {
        for request in awaiting.removeValue(forKey: revision) ?? [] {
            ready.append(Arrival(request: request, updates: updates))
        }
    }

    mutating func next() -> Arrival? { ready.isEmpty ? nil : ready.removeFirst() }

    mutating func leave(_ request: JoinDesk.Request) -> Bool {
        let count = count
        for revision in awaiting.keys {
            awaiting[revision]?.remove(request)
            // What is being read will find nobody, or somebody who came later.
        }
        ready.removeAll { $0.request == request }
        return self.count < count
    }
}
