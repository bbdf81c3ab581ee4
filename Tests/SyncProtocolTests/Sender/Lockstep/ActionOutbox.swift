import DequeModule

@testable import SyncProtocol

/// The outbox as a queue of single actions, to which the outbox of pieces is compared: first the sent ones, by number and without gaps, then the queued ones, which
/// have no number.
struct ActionOutbox: Hashable, Sendable {
    struct Numbered: Hashable, Sendable {
        let number: ActionNumber
        let ticket: Ticket
        let bytes: [UInt8]
        var isResolved = false
    }

    struct Queued: Hashable, Sendable {
        let ticket: Ticket
        let bytes: [UInt8]
    }

    private(set) var numbered: Deque<Numbered> = []
    private(set) var queued: Deque<Queued> = []
    /// The number of the next queued action.
    private(set) var next = ActionNumber(1)
    /// The next number to push; below `next` while sent actions are pushed again.
    private(set) var cursor = ActionNumber(1)
    /// The number of sent actions that have their receipt and wait for the one of an earlier action.
    private var resolvedCount = 0
    /// The oldest number whose receipt a resumed session may need; `nil` if the session is not saved.
    private var needed: ActionNumber?

    var isEmpty: Bool { numbered.isEmpty && queued.isEmpty }
    /// The number of actions without a receipt.
    var count: Int { numbered.count - resolvedCount + queued.count }
    /// The oldest number without a receipt, or the next number.
    var first: ActionNumber { numbered.first?.number ?? next }

    init() {}

    /// Restores the actions of a saved session. Any of them may have been sent, in the order of their submission.
    init(resuming saved: SavedSession) {
        let standing = saved.standing
        next = standing.first
        cursor = next
        needed = next
        for action in saved.actions {
            if let outcome = action.outcome {
                // Resolved before earlier actions: it keeps its place among them.
                guard let sent = outcome.sent, sent.session == standing.session, sent.number >= standing.first else {
                    continue
                }
                precondition(sent.number == next, "expected number \(next) in a saved session, got \(sent.number)")
            } else if standing.link == nil {
                queued.append(Queued(ticket: action.ticket, bytes: action.bytes))
                continue
            }
            let isResolved = action.outcome != nil
            numbered.append(Numbered(number: next, ticket: action.ticket, bytes: action.bytes, isResolved: isResolved))
            resolvedCount += isResolved ? 1 : 0
            next = next.next
        }
    }

    mutating func append(_ action: Queued) { queued.append(action) }

    /// Receipts of lower numbers are not needed again.
    mutating func releaseReceipts(before number: ActionNumber) { needed = number }

    /// Removes a queued action.
    ///
    /// - Returns: `false` if it is not queued.
    mutating func withdraw(_ ticket: Ticket) -> Bool {
        guard let index = queued.firstIndex(where: { $0.ticket == ticket }) else { return false }
        queued.remove(at: index)
        return true
    }

    /// The number of a sent action; `nil` if it was not sent.
    func number(of ticket: Ticket) -> ActionNumber? {
        numbered.first { $0.ticket == ticket && !$0.isResolved }?.number
    }

    /// Whether each sent action still fits a frame with this space for actions.
    func fits(bytesMax: Int) -> Bool { numbered.allSatisfy { $0.bytes.count + Self.framingBytesMax <= bytesMax } }

    /// The actions to push next, from the cursor on.
    func actions(countMax: Int, bytesMax: Int) -> [[UInt8]] {
        // The primary remembers one outcome for each number of the window.
        let window = countMax - cursor.distance(beyond: min(first, needed ?? first))
        var bytesLeft = bytesMax
        var actions: [[UInt8]] = []
        func append(_ bytes: [UInt8]) -> Bool {
            bytesLeft -= bytes.count + Self.framingBytesMax
            guard actions.count < window, bytesLeft >= 0 else { return false }
            actions.append(bytes)
            return true
        }
        for action in numbered.dropFirst(cursor.distance(beyond: first)) where !append(action.bytes) { return actions }
        for action in queued where !append(action.bytes) { return actions }
        return actions
    }

    /// The maximum size of an action's CBOR head.
    static let framingBytesMax = 5

    /// Records that `count` actions from the cursor on were sent.
    mutating func markSent(count: Int) {
        let resent = min(count, next.distance(beyond: cursor))
        for _ in 0..<(count - resent) {
            let action = queued.removeFirst()
            numbered.append(Numbered(number: next, ticket: action.ticket, bytes: action.bytes))
            next = next.next
        }
        cursor = cursor.advanced(by: count)
    }

    /// Pushes again from this number on, but never from one that has its receipt.
    mutating func rewind(to number: ActionNumber) { cursor = min(next, max(first, number)) }

    /// Whether the number was sent and has no receipt.
    func awaitsReceipt(of number: ActionNumber) -> Bool {
        number >= first && number < next && !numbered[number.distance(beyond: first)].isResolved
    }

    /// Records an outcome; `nil` if the number awaits none.
    mutating func resolve(_ number: ActionNumber) -> Ticket? {
        guard awaitsReceipt(of: number) else { return nil }
        let index = number.distance(beyond: first)
        numbered[index].isResolved = true
        resolvedCount += 1
        let ticket = numbered[index].ticket
        while numbered.first?.isResolved == true {
            numbered.removeFirst()
            resolvedCount -= 1
        }
        cursor = max(cursor, first)
        return ticket
    }

    /// Requeues all sent actions: they were never applied, and are sent again under another session.
    mutating func requeueNumbered() {
        queued =
            Deque(numbered.lazy.filter { !$0.isResolved }.map { Queued(ticket: $0.ticket, bytes: $0.bytes) }) + queued
        next = first
        numbered = []
        resolvedCount = 0
        cursor = next
    }

    /// Removes all sent actions; queued ones stay.
    mutating func abandonNumbered() -> [Numbered] {
        defer {
            numbered = []
            resolvedCount = 0
            cursor = next
        }
        return numbered.filter { !$0.isResolved }
    }

    /// Removes the queued actions that meet the condition.
    mutating func removeQueued(where condition: (Queued) -> Bool) -> [Queued] {
        defer { queued.removeAll(where: condition) }
        return queued.filter(condition)
    }
}
