import DequeModule
import StateCoding
import StateCore

/// Joiners who have been away for longer than updates are kept in memory.
extension PrimaryMachine {
    /// The updates behind a revision were read from the journal, in the name of this incarnation; `nil` if they are more than
    /// was wanted, or no longer kept.
    package mutating func pastRead(_ updates: [Update]?, after revision: Revision) {
        desk.past.arrived(updates, behind: revision)
    }

    /// `nil` if the joiner is better off with a snapshot: the journal is of no use to it, or is being read for another one.
    mutating func readPast(for request: JoinDesk.Request) -> [PrimaryDirective]? {
        let end = ring.start ?? head
        guard readsPast, let position = request.position, isValid(position), position.revision < end else { return nil }
        switch desk.past.await(request, behind: position.revision) {
        case .read:
            let bytesMax = max(summary.bytes, limits.chunkBytes)
            return [.readPast(after: position.revision, through: end, bytesMax: bytesMax)]
        case .wait: return []
        case .elsewhere: return nil
        }
    }

    /// Answers a joiner with what was read and what has come since; with a snapshot, if that does not chain.
    mutating func answer(
        _ arrival: PastDesk.Arrival,
        at now: Instant,
        time: Timestamp,
        composed: inout Int
    ) -> [PrimaryDirective] {
        guard let past = arrival.updates, let end = past.last?.to, let recent = ring.updates(from: end, head: head),
            past.count + recent.count <= limits.catchUpComposedMax
        else { return offer(arrival.request, hasWaited: false, at: now, time: time, composed: &composed) }
        let missing = Deque(past) + recent
        let catchUp = CatchUp(missing[...], limits: limits)
        composed += catchUp.composed
        return welcome(arrival.request, offer: nil, catchUp: catchUp, time: time)
    }
}
