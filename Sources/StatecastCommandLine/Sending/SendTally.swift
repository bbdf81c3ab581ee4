import ArgumentParser
import Statecast

/// Counts the outcomes of a command's actions, and decides how the command ends.
struct SendTally: Sendable {
    /// Ranges of numbers without an outcome, by session.
    private var unknown: [SessionID: [ClosedRange<UInt64>]] = [:]
    private var appliedCount = 0
    private var rejectedCount = 0
    private var refusedCount = 0
    private var notSentCount = 0
    private var keptCount = 0
    /// Why the primary refused the session.
    private(set) var refusal: Rejection?
    /// Why printing stopped.
    private var outputFailure: String?

    /// Records that this outcome and all later ones could not be printed.
    mutating func setOutputFailure(_ message: String) { outputFailure = message }

    /// Records that the primary refused the session, whose actions the session file keeps.
    mutating func setRefusal(_ reason: Rejection) { refusal = refusal ?? reason }

    mutating func count(_ outcome: SendOutcome) {
        switch outcome.kind {
        case .applied: appliedCount += 1
        case .rejected: rejectedCount += 1
        case .notSent: notSentCount += 1
        case .kept: keptCount += 1
        case .refusedSession(let rejection):
            refusedCount += 1
            setRefusal(rejection)
        case .unknown:
            guard case .resolved(_, let outcome) = outcome, let session = outcome.session,
                let number = outcome.number?.rawValue
            else { return }
            var ranges = unknown[session, default: []]
            if let last = ranges.last, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
            unknown[session] = ranges
        }
    }

    /// Whether the primary answered at least one action.
    var isAnswered: Bool { appliedCount + rejectedCount > 0 }

    /// All outcomes in one line, such as `applied 7, rejected 2`.
    var total: String {
        let unknownCount = unknown.values.joined().reduce(0) { $0 + $1.count }
        let others = [
            ("rejected", rejectedCount + refusedCount), ("unknown", unknownCount), ("not sent", notSentCount),
            ("kept", keptCount),
        ]
        let parts = [("applied", appliedCount)] + others.filter { $0.1 > 0 }
        return parts.map { "\($0) \($1)" }.joined(separator: ", ")
    }

    /// Throws the command's failure or exit code, unless all actions were applied.
    ///
    /// - Parameters:
    ///   - status: the sender's last status.
    ///   - inputEnd: how reading the input ended; `CancellationError` if it was stopped.
    ///   - cause: why actions have no outcome, such as `timed out after 5 s`.
    ///   - kept: the unfinished contents of the session file.
    func conclude(
        _ upstream: Upstream,
        _ status: SenderStatus,
        _ inputEnd: Result<Void, any Error> = .success(()),
        because cause: String?,
        kept: String? = nil
    ) throws {
        let hold = if case .waiting(let reason) = status { " (\(reason))" } else { "" }
        let cause = outputFailure ?? cause.map { $0 + hold }
        let (begin, rest) = (cause.map { $0 + ": " } ?? "", kept.map { "; " + $0 } ?? "")
        if !unknown.isEmpty { throw CommandFailure.unknownOutcome(begin + unknownText + rest) }
        if let refusal { throw CommandFailure.failed(refusal.message + rest) }
        if keptCount + notSentCount > 0, let kept { throw CommandFailure.failed(begin + kept) }
        if notSentCount > 0 {
            let begin = cause ?? "stopped"
            if case .unreachable(let actions) = status {
                throw CommandFailure.failed("\(begin): \(upstream.unreachable(actions: actions))")
            }
            throw CommandFailure.failed(
                isAnswered || !hold.isEmpty
                    ? "\(begin): the actions without a receipt were not sent, and will not be applied"
                    : "\(begin): no primary answered at \(upstream.endpoint), nothing was sent; check that "
                        + "statecast-primary runs there and that --from is the endpoint at which it publishes, or wait "
                        + "for it with --wait"
            )
        }
        if let outputFailure {
            throw CommandFailure.failed(outputFailure + (kept == nil ? "; not all outcomes are shown" : rest))
        }
        if case .failure(let error) = inputEnd {
            guard error is CancellationError else {
                let failure = CommandFailure(error)
                throw failure.exitCode == .failure ? .failed(failure.message + rest) : failure
            }
            throw CommandFailure.failed("\(cause ?? "stopped") before the input ended" + rest)
        }
        if rejectedCount > 0 { throw ExitCode.actionRejected }
    }

    private var unknownText: String {
        let sessions = unknown.sorted { $0.key.description < $1.key.description }.map { session, ranges in
            let numbers = ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            return "\(numbers.joined(separator: ", ")) of session \(session)"
        }
        return "the outcome is unknown for number \(sessions.joined(separator: ", and "))"
    }
}
