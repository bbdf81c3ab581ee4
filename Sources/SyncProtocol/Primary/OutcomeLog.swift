import DequeModule
internal import StateCore

/// What became of the last actions of a session, by number. Rejections are rare, so an applied action costs one word.
struct OutcomeLog: Hashable, Sendable {
    private var revisions: Deque<Revision> = []
    private var rejections: [ActionNumber: Rejection] = [:]
    /// The number behind the newest entry.
    private(set) var end: ActionNumber

    /// Stands in `revisions` where the action was rejected.
    private static let rejected = Revision(.max)

    /// An empty log whose first entry will be for `first`.
    init(first: ActionNumber) { end = first }

    /// The number of the oldest entry; equal to `end` if there is none.
    var start: ActionNumber { ActionNumber(end.rawValue - UInt64(revisions.count)) }

    /// Appends the outcome of the next number and forgets the oldest beyond `countMax`.
    mutating func append(_ outcome: Outcome, countMax: Int) {
        switch outcome {
        case .applied(let revision): revisions.append(revision)
        case .rejected(let rejection):
            revisions.append(Self.rejected)
            rejections[end] = rejection
        }
        end = end.next
        while revisions.count > countMax {
            rejections[start] = nil
            revisions.removeFirst()
        }
    }

    /// Forgets what lies from `number` on: it was never made durable.
    mutating func rewind(to number: ActionNumber) {
        while end > number, !revisions.isEmpty {
            end = end.previous
            revisions.removeLast()
            rejections[end] = nil
        }
    }

    /// The recorded outcomes of a range of numbers, as far as they are still remembered.
    func outcomes(from first: ActionNumber, through last: ActionNumber) -> (first: ActionNumber, outcomes: [Outcome]) {
        let from = max(first, start)
        guard from <= last, from < end else { return (from, []) }
        let lower = from.distance(beyond: start)
        let upper = min(last.next, end).distance(beyond: start)
        var number = from
        let outcomes = (lower..<upper).map { index -> Outcome in
            defer { number = number.next }
            guard revisions[index] == Self.rejected, let rejection = rejections[number] else {
                return .applied(revisions[index])
            }
            return .rejected(rejection)
        }
        return (from, outcomes)
    }
}
