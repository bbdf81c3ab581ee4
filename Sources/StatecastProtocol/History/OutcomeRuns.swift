import DequeModule
package import StatecastCoding
package import StatecastCore

/// The final outcome of an action.
package enum Outcome: Hashable, Sendable {
    case applied(Revision)
    case rejected(Rejection)
}

/// Consecutive actions of one session with equal outcomes: all are rejected for one reason, or each is applied as the
/// revision after that of the action before.
package struct OutcomeRun: Hashable, Sendable {
    package let first: ActionNumber
    /// The number of actions, at least 1.
    package let count: Int
    /// The outcome of the first action. Each other one is rejected, too, or applied as the next revision.
    package let outcome: Outcome

    /// `nil` if the run is empty, or if a number, a revision or the size of the messages is out of range.
    package init?(first: ActionNumber, count: Int, outcome: Outcome) {
        guard count >= 1, !first.rawValue.addingReportingOverflow(UInt64(count)).overflow else { return nil }
        switch outcome {
        case .applied(let revision):
            guard !revision.rawValue.addingReportingOverflow(UInt64(count - 1)).overflow else { return nil }
        case .rejected(let rejection):
            guard !rejection.message.utf8.count.multipliedReportingOverflow(by: count).overflow else { return nil }
        }
        self.init(checked: first, count, outcome)
    }

    fileprivate init(checked first: ActionNumber, _ count: Int, _ outcome: Outcome) {
        self.first = first
        self.count = count
        self.outcome = outcome
    }

    /// The number after the last one.
    package var end: ActionNumber { ActionNumber(first.rawValue + UInt64(count)) }

    /// The outcome of one of its numbers.
    package func outcome(of number: ActionNumber) -> Outcome {
        precondition(number >= first && number < end, "the run has the numbers from \(first) to \(end), not \(number)")
        switch outcome {
        case .applied(let revision): return .applied(revision.advanced(by: number.distance(beyond: first)))
        case .rejected(let rejection): return .rejected(rejection)
        }
    }

    /// The size of the messages, one for each action.
    package var messageBytes: Int {
        switch outcome {
        case .applied: 0
        case .rejected(let rejection): rejection.message.utf8.count * count
        }
    }

    /// The part before one of its numbers other than the first.
    fileprivate func prefix(before number: ActionNumber) -> OutcomeRun {
        OutcomeRun(checked: first, number.distance(beyond: first), outcome)
    }

    /// The part from one of its numbers on.
    fileprivate func suffix(from number: ActionNumber) -> OutcomeRun {
        OutcomeRun(checked: number, count - number.distance(beyond: first), outcome(of: number))
    }

    /// This run and the following one as one run; `nil` if their outcomes differ.
    fileprivate func joined(with next: OutcomeRun) -> OutcomeRun? {
        switch (outcome, next.outcome) {
        case (.applied(let revision), .applied(let following)):
            let (expected, overflow) = revision.rawValue.addingReportingOverflow(UInt64(count))
            guard !overflow, expected == following.rawValue else { return nil }
        case (.rejected(let rejection), .rejected(let following)):
            guard rejection == following else { return nil }
        default: return nil
        }
        let (sum, overflow) = count.addingReportingOverflow(next.count)
        return overflow ? nil : OutcomeRun(first: first, count: sum, outcome: outcome)
    }
}

/// The outcomes of consecutive actions of one session, as runs.
///
/// The memory and the cost of each operation depend on the number of runs, not of actions. The runs are the fewest
/// possible: equal outcomes have equal runs.
package struct OutcomeRuns: Hashable, Sendable {
    /// In order and without gaps. No run continues the one before.
    private var stored: Deque<OutcomeRun> = []
    /// The number of the first outcome; equal to `end` if there is none.
    package private(set) var start: ActionNumber
    /// The number after the last outcome.
    package private(set) var end: ActionNumber
    /// The size of the rejection messages, one for each rejected action.
    package private(set) var messageBytes = 0
    /// No outcome of a lower number has a message. Not part of the value: it saves the search for the oldest message.
    private var messagesStart: ActionNumber

    /// Creates an empty sequence whose first outcome is for `first`.
    package init(first: ActionNumber) { (start, end, messagesStart) = (first, first, first) }

    package static func == (left: OutcomeRuns, right: OutcomeRuns) -> Bool {
        left.start == right.start && left.end == right.end && left.stored == right.stored
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(start)
        hasher.combine(stored)
    }

    package var isEmpty: Bool { stored.isEmpty }
    /// The number of outcomes.
    package var count: Int { end.distance(beyond: start) }
    /// The number of runs.
    package var runCount: Int { stored.count }
    /// The runs, in order.
    package var runs: [OutcomeRun] { Array(stored) }

    // MARK: Extending

    /// Appends the outcomes of the next `count` actions; none for 0.
    ///
    /// - Parameter outcome: that of the first one.
    package mutating func append(_ outcome: Outcome, count: Int = 1) {
        guard count != 0 else { return }
        guard let run = OutcomeRun(first: end, count: count, outcome: outcome) else {
            preconditionFailure("\(count) outcomes from number \(end) on are out of range: \(outcome)")
        }
        append(run)
    }

    /// Appends outcomes, which begin at `end`.
    package mutating func append(contentsOf other: OutcomeRuns) {
        precondition(other.start == end, "the outcomes end before \(end), more of them begin at \(other.start)")
        for run in other.stored { append(run) }
    }

    private mutating func append(_ run: OutcomeRun) {
        messageBytes += run.messageBytes
        end = run.end
        if let last = stored.last, let joined = last.joined(with: run) {
            stored[stored.endIndex - 1] = joined
        } else {
            stored.append(run)
        }
    }

    // MARK: Shortening

    /// Drops the outcomes of the numbers below `number`.
    package mutating func removeOutcomes(before number: ActionNumber) {
        let number = min(number, end)
        guard number > start else { return }
        while let first = stored.first, first.end <= number {
            messageBytes -= first.messageBytes
            stored.removeFirst()
        }
        if let first = stored.first, first.first < number {
            let kept = first.suffix(from: number)
            messageBytes -= first.messageBytes - kept.messageBytes
            stored[stored.startIndex] = kept
        }
        start = number
    }

    /// Drops the outcomes from `number` on.
    package mutating func removeOutcomes(from number: ActionNumber) {
        let number = max(number, start)
        guard number < end else { return }
        while let last = stored.last, last.first >= number {
            messageBytes -= last.messageBytes
            stored.removeLast()
        }
        if let last = stored.last, last.end > number {
            let kept = last.prefix(before: number)
            messageBytes -= last.messageBytes - kept.messageBytes
            stored[stored.endIndex - 1] = kept
        }
        end = number
        messagesStart = min(messagesStart, number)
    }

    /// Drops the oldest rejection messages of numbers up to `last` until all messages have at most `maxBytes` bytes.
    /// Keeps the codes.
    ///
    /// - Returns: the number of runs that were searched for messages. A run in which none is left is searched once.
    @discardableResult
    package mutating func dropMessages(through last: ActionNumber, maxBytes: Int) -> Int {
        var excess = messageBytes - maxBytes
        guard excess > 0 else { return 0 }
        // With the neighbours, with which a run without its message may join.
        let lower = max(index(of: max(start, messagesStart)) - 1, stored.startIndex)
        var kept = OutcomeRuns(first: stored[lower].first)
        var upper = lower
        while excess > 0, upper < stored.endIndex, stored[upper].first <= last {
            let run = stored[upper]
            upper += 1
            guard case .rejected(let rejection) = run.outcome, !rejection.message.isEmpty else {
                kept.append(run)
                messagesStart = kept.end
                continue
            }
            let bytes = rejection.message.utf8.count
            // The excess is positive, so this rounds up.
            let needed = (excess - 1) / bytes + 1
            let dropped = min(needed, run.count, last.next.distance(beyond: run.first))
            kept.append(.rejected(Rejection(rejection.code, "")), count: dropped)
            messagesStart = kept.end
            kept.append(run.outcome, count: run.count - dropped)
            excess -= dropped * bytes
            messageBytes -= dropped * bytes
        }
        let searched = upper - lower
        if upper < stored.endIndex {
            kept.append(stored[upper])
            upper += 1
        }
        stored.replaceSubrange(lower..<upper, with: kept.stored)
        return searched
    }

    // MARK: Finding

    /// The outcome of a number; `nil` if there is none.
    package func outcome(of number: ActionNumber) -> Outcome? {
        guard number >= start, number < end else { return nil }
        return stored[index(of: number)].outcome(of: number)
    }

    /// The remembered outcomes of the numbers in a range.
    package func slice(from first: ActionNumber, through last: ActionNumber) -> OutcomeRuns {
        let lower = min(max(first, start), end)
        let upper = min(last.next, end)
        var slice = OutcomeRuns(first: lower)
        guard lower < upper else { return slice }
        for run in stored[index(of: lower)...] {
            guard run.first < upper else { break }
            let tail = run.first < lower ? run.suffix(from: lower) : run
            slice.append(tail.end > upper ? tail.prefix(before: upper) : tail)
        }
        return slice
    }

    /// The index of the run with a number from `start` on; the end index for numbers from `end` on.
    private func index(of number: ActionNumber) -> Int { stored.partitioningIndex { $0.end > number } }

    /// The outcomes in parts, each with at most `maxRuns` runs and, unless it is a single run, an encoding of at most
    /// `maxBytes` bytes.
    package func parts(maxBytes: Int, maxRuns: Int) -> [OutcomeRuns] {
        var parts: [OutcomeRuns] = []
        var part = OutcomeRuns(first: start)
        var bytes = OutcomeRun.maxHeadBytes
        for run in stored {
            if !part.isEmpty, part.runCount >= maxRuns || bytes + run.maxBytes > maxBytes {
                parts.append(part)
                part = OutcomeRuns(first: run.first)
                bytes = OutcomeRun.maxHeadBytes
            }
            part.append(run)
            bytes += run.maxBytes
        }
        if !part.isEmpty { parts.append(part) }
        return parts
    }
}

// MARK: Coding

/// The encoding in CBOR: an array of outcomes in the order of their numbers. The outcome of a single action is its
/// revision, or an array of the code and the message of its rejection. A longer run is an array of the number of its
/// actions, followed by the same elements.
extension OutcomeRuns {
    package func write(to writer: inout CBORWriter) {
        writer.array(count: stored.count)
        for run in stored { run.write(to: &writer) }
    }

    /// Reads the outcomes from number `first` on. Joins outcomes that are not written as one run and could be, such as
    /// lists of single outcomes. Drops the message of a run that states more actions than their messages have bytes for
    /// in an `Int`; a reader needs the outcomes of few of them.
    ///
    /// - Throws: ``CodingFailure`` for anything that is no sequence of runs; with code `tooLarge` if more than
    ///   `maxRuns` runs are left after joining.
    package init(from reader: inout CBORReader, first: ActionNumber, maxRuns: Int) throws(CodingFailure) {
        self.init(first: first)
        let elements = try reader.arrayCount()
        for _ in 0..<elements {
            let (count, stated) = try reader.outcomeRun()
            let outcome = stated.withCountableMessage(for: count, beside: messageBytes)
            guard let run = OutcomeRun(first: end, count: count, outcome: outcome) else {
                throw CodingFailure(.malformed, "\(count) outcomes from number \(end) on are out of range")
            }
            append(run)
            guard runCount <= maxRuns else {
                throw CodingFailure(.tooLarge, "expected at most \(maxRuns) runs of outcomes, got more")
            }
        }
    }
}

extension Outcome {
    /// This outcome without its message, if an `Int` cannot count the bytes of that for each action.
    fileprivate func withCountableMessage(for count: Int, beside bytes: Int) -> Outcome {
        guard case .rejected(let rejection) = self else { return self }
        let (all, overflow) = rejection.message.utf8.count.multipliedReportingOverflow(by: count)
        let isCountable = !overflow && !bytes.addingReportingOverflow(all).overflow
        return isCountable ? self : .rejected(Rejection(rejection.code, ""))
    }
}

extension OutcomeRun {
    /// The maximum size of the head of an item.
    fileprivate static let maxHeadBytes = 9

    /// An upper bound of the encoded size.
    fileprivate var maxBytes: Int {
        switch outcome {
        case .applied: 1 + 2 * Self.maxHeadBytes
        case .rejected(let rejection):
            1 + 3 * Self.maxHeadBytes + rejection.code.rawValue.utf8.count + rejection.message.utf8.count
        }
    }

    fileprivate func write(to writer: inout CBORWriter) {
        switch outcome {
        case .applied(let revision):
            if count > 1 {
                writer.array(count: 2)
                writer.write(count: count)
            }
            writer.write(revision)
        case .rejected(let rejection):
            writer.array(count: count > 1 ? 3 : 2)
            if count > 1 { writer.write(count: count) }
            writer.write(rejection)
        }
    }
}

extension CBORReader {
    /// Reads one run.
    fileprivate mutating func outcomeRun() throws(CodingFailure) -> (count: Int, outcome: Outcome) {
        guard peek == .array else { return (1, .applied(try quantity())) }
        let elements = try arrayCount()
        if elements == 2, peek == .text { return (1, .rejected(try rejection())) }
        guard elements == 2 || elements == 3 else {
            throw CodingFailure(.malformed, "a run of outcomes has 2 or 3 elements, got \(elements)")
        }
        let actions = try count()
        guard actions > 1 else {
            throw CodingFailure(.malformed, "a run of outcomes has at least 2 actions, got \(actions)")
        }
        if elements == 2 { return (actions, .applied(try quantity())) }
        return (actions, .rejected(try rejection()))
    }
}
