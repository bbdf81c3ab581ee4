import DequeModule
internal import StateCore

/// What became of the last actions of a session, by number: of each whether it was applied or with which code it was
/// rejected, and of the newest rejections also the message.
struct OutcomeLog: Hashable, Sendable {
    private enum Entry: Hashable {
        case applied(Revision)
        case rejected(Rejection.Code)
    }

    private struct Message: Hashable {
        let number: ActionNumber
        let text: String
    }

    private var entries: Deque<Entry> = []
    /// In the order of their numbers.
    private var messages: Deque<Message> = []
    /// The bytes of all messages.
    private var messageBytes = 0
    /// The number behind the newest entry.
    private(set) var end: ActionNumber

    /// An empty log whose first entry will be for `first`.
    init(first: ActionNumber) { end = first }

    /// The number of the oldest entry; equal to `end` if there is none.
    var start: ActionNumber { ActionNumber(end.rawValue - UInt64(entries.count)) }

    /// Appends the outcome of the next number and forgets the oldest beyond `countMax`.
    mutating func append(_ outcome: Outcome, countMax: Int) {
        switch outcome {
        case .applied(let revision): entries.append(.applied(revision))
        case .rejected(let rejection):
            entries.append(.rejected(rejection.code))
            if !rejection.message.isEmpty {
                messages.append(Message(number: end, text: rejection.message))
                messageBytes += rejection.message.utf8.count
            }
        }
        end = end.next
        while entries.count > countMax {
            if let oldest = messages.first, oldest.number == start {
                messageBytes -= oldest.text.utf8.count
                messages.removeFirst()
            }
            entries.removeFirst()
        }
    }

    /// Forgets the oldest messages, of numbers up to `last`, until all have at most `bytesMax` bytes together. The outcomes
    /// stay, with their codes.
    mutating func forgetMessages(through last: ActionNumber, bytesMax: Int) {
        guard messageBytes > bytesMax else { return }
        var kept = messages[...]
        while messageBytes > bytesMax, let oldest = kept.first, oldest.number <= last {
            messageBytes -= oldest.text.utf8.count
            kept.removeFirst()
        }
        // A copy has no room for those that are gone.
        messages = Deque(kept)
    }

    /// Forgets what lies from `number` on: it was never made durable.
    mutating func rewind(to number: ActionNumber) {
        while end > number, !entries.isEmpty {
            end = end.previous
            entries.removeLast()
        }
        while let last = messages.last, last.number >= end {
            messageBytes -= last.text.utf8.count
            messages.removeLast()
        }
    }

    /// The outcomes of a range of numbers that are still remembered. A message that was forgotten is empty.
    func outcomes(from first: ActionNumber, through last: ActionNumber) -> (first: ActionNumber, outcomes: [Outcome]) {
        let from = max(first, start)
        guard from <= last, from < end else { return (from, []) }
        let lower = from.distance(beyond: start)
        let upper = min(last.next, end).distance(beyond: start)
        var number = from
        var messages = messages.drop { $0.number < from }
        let outcomes = entries[lower..<upper].map { entry -> Outcome in
            defer { number = number.next }
            switch entry {
            case .applied(let revision): return .applied(revision)
            case .rejected(let code):
                guard messages.first?.number == number else { return .rejected(Rejection(code, "")) }
                return .rejected(Rejection(code, messages.removeFirst().text))
            }
        }
        return (from, outcomes)
    }
}
