import DequeModule

/// A sender's actions that have no receipt yet: first those that have left at least once, by number and without gaps,
/// then those that never left and have no number.
struct Outbox: Hashable, Sendable {
    struct Numbered: Hashable, Sendable {
        let number: ActionNumber
        let ticket: Ticket
        let bytes: [UInt8]
        var isSettled = false
    }

    struct Queued: Hashable, Sendable {
        let ticket: Ticket
        let bytes: [UInt8]
    }

    private(set) var numbered: Deque<Numbered> = []
    private(set) var queued: Deque<Queued> = []
    /// The number that the next action to leave for the first time gets.
    private(set) var next = ActionNumber(1)
    /// The number to push next: one that left before while it is below `next`.
    private(set) var cursor = ActionNumber(1)
    /// How many in `numbered` have their receipt, and wait for one before them.
    private var settledCount = 0
    /// The oldest number whose receipt could be needed again; `nil` if only those are that are missing.
    private var needed: ActionNumber?

    var isEmpty: Bool { numbered.isEmpty && queued.isEmpty }
    /// Actions without a receipt.
    var count: Int { numbered.count - settledCount + queued.count }
    /// The oldest number without a receipt, or the next to be given.
    var first: ActionNumber { numbered.first?.number ?? next }

    init() {}

    /// What was left of a session when its sender ended.
    ///
    /// Nobody knows how much of it has left, so all of it may have, in the order in which it was taken.
    init(resuming saved: SavedSession) {
        let standing = saved.standing
        next = standing.first
        cursor = next
        needed = next
        for action in saved.actions {
            if let outcome = action.outcome {
                // Settled before the others: it keeps its place among them.
                guard let sent = outcome.sent, sent.session == standing.session, sent.number >= standing.first else {
                    continue
                }
                precondition(sent.number == next, "number \(sent.number) stands where \(next) should")
            } else if standing.link == nil {
                queued.append(Queued(ticket: action.ticket, bytes: action.bytes))
                continue
            }
            let isSettled = action.outcome != nil
            numbered.append(Numbered(number: next, ticket: action.ticket, bytes: action.bytes, isSettled: isSettled))
            settledCount += isSettled ? 1 : 0
            next = next.next
        }
    }

    mutating func append(_ action: Queued) { queued.append(action) }

    /// Receipts of lower numbers are not needed again.
    mutating func noted(before number: ActionNumber) { needed = number }

    /// Takes back an action that never left.
    mutating func withdraw(_ ticket: Ticket) -> Bool {
        guard let index = queued.firstIndex(where: { $0.ticket == ticket }) else { return false }
        queued.remove(at: index)
        return true
    }

    /// The number of an action that has left; `nil` if it has not.
    func number(of ticket: Ticket) -> ActionNumber? {
        numbered.first { $0.ticket == ticket && !$0.isSettled }?.number
    }

    /// Whether each action that has left could still be pushed in a frame with so much room for actions.
    func fits(bytesMax: Int) -> Bool { numbered.allSatisfy { $0.bytes.count + Self.framingBytesMax <= bytesMax } }

    /// The actions to push next, from the cursor on.
    func actions(countMax: Int, bytesMax: Int) -> [[UInt8]] {
        // The primary remembers no more outcomes than the window has numbers.
        let window = countMax - cursor.distance(beyond: min(first, needed ?? first))
        var bytesLeft = bytesMax
        var actions: [[UInt8]] = []
        func take(_ bytes: [UInt8]) -> Bool {
            bytesLeft -= bytes.count + Self.framingBytesMax
            guard actions.count < window, bytesLeft >= 0 else { return false }
            actions.append(bytes)
            return true
        }
        for action in numbered.dropFirst(cursor.distance(beyond: first)) where !take(action.bytes) { return actions }
        for action in queued where !take(action.bytes) { return actions }
        return actions
    }

    /// The most bytes that CBOR puts in front of an action.
    static let framingBytesMax = 5

    /// So many actions from the cursor on have left.
    mutating func left(count: Int) {
        let again = min(count, next.distance(beyond: cursor))
        for _ in 0..<(count - again) {
            let action = queued.removeFirst()
            numbered.append(Numbered(number: next, ticket: action.ticket, bytes: action.bytes))
            next = next.next
        }
        cursor = cursor.advanced(by: count)
    }

    /// Push again from this number on; never from one that has its receipt.
    mutating func rewind(to number: ActionNumber) { cursor = min(next, max(first, number)) }

    /// Whether the number has left and has no receipt.
    func awaitsReceipt(of number: ActionNumber) -> Bool {
        number >= first && number < next && !numbered[number.distance(beyond: first)].isSettled
    }

    /// An outcome came. `nil` if the number awaits none.
    mutating func settle(_ number: ActionNumber) -> Ticket? {
        guard awaitsReceipt(of: number) else { return nil }
        let index = number.distance(beyond: first)
        numbered[index].isSettled = true
        settledCount += 1
        let ticket = numbered[index].ticket
        while numbered.first?.isSettled == true {
            numbered.removeFirst()
            settledCount -= 1
        }
        cursor = max(cursor, first)
        return ticket
    }

    /// Takes back all that left: it was never applied, and leaves again under the same numbers of another session.
    mutating func requeueNumbered() {
        queued =
            Deque(numbered.lazy.filter { !$0.isSettled }.map { Queued(ticket: $0.ticket, bytes: $0.bytes) }) + queued
        next = first
        numbered = []
        settledCount = 0
        cursor = next
    }

    /// Gives up all that left; what never left stays.
    mutating func abandonNumbered() -> [Numbered] {
        defer {
            numbered = []
            settledCount = 0
            cursor = next
        }
        return numbered.filter { !$0.isSettled }
    }

    /// Removes what never left, as far as it meets the condition.
    mutating func removeQueued(where condition: (Queued) -> Bool) -> [Queued] {
        defer { queued.removeAll(where: condition) }
        return queued.filter(condition)
    }
}
