internal import ArgumentParser
internal import Statecast

/// What became of all the actions of a command, as far as its end depends on it.
struct SendTally: Sendable {
    /// Runs of numbers without an outcome, by session.
    private var unknown: [SessionID: [ClosedRange<UInt64>]] = [:]
    private var appliedCount = 0
    private var rejectedCount = 0
    private var refusedCount = 0
    private var unsentCount = 0
    /// Actions without an outcome that the session file keeps.
    private var keptCount = 0
    /// Why the session was refused.
    private(set) var refusal: Rejection?

    /// Why outcomes were not shown.
    private var outputFailure: String?

    /// Nothing yet.
    init() {}

    /// An outcome, and all behind it, could not be shown.
    mutating func hidden(because reason: String) { outputFailure = reason }

    /// The session was refused, and its actions are kept.
    mutating func refused(_ reason: Rejection) { refusal = refusal ?? reason }

    mutating func count(_ result: SendResult) {
        switch result.kind {
        case .applied: appliedCount += 1
        case .rejected: rejectedCount += 1
        case .notSent: unsentCount += 1
        case .kept: keptCount += 1
        case .refusedSession(let rejection):
            refusedCount += 1
            refusal = refusal ?? rejection
        case .unknown:
            guard case .settled(_, let outcome) = result, let session = outcome.session,
                let number = outcome.number?.rawValue
            else { return }
            var runs = unknown[session, default: []]
            if let last = runs.last, last.upperBound + 1 == number {
                runs[runs.count - 1] = last.lowerBound...number
            } else {
                runs.append(number...number)
            }
            unknown[session] = runs
        }
    }

    /// Whether the primary said what became of at least one action.
    var isAnswered: Bool { appliedCount + rejectedCount > 0 }

    /// All outcomes in one line, such as `applied 7, rejected 2`.
    var total: String {
        let unknownCount = unknown.values.joined().reduce(0) { $0 + $1.count }
        let others = [
            ("rejected", rejectedCount + refusedCount), ("unknown", unknownCount), ("not sent", unsentCount),
            ("kept", keptCount),
        ]
        let parts = [("applied", appliedCount)] + others.filter { $0.1 > 0 }
        return parts.map { "\($0) \($1)" }.joined(separator: ", ")
    }

    /// Throws how the command ends, unless all was applied.
    ///
    /// - Parameters:
    ///   - upstream: where the primary was asked.
    ///   - status: how the sender stood with it in the end.
    ///   - fed: how the taking in of the input ended; cancelled if it was stopped.
    ///   - cause: why the actions without an outcome have none, such as `timed out after 5 s`.
    ///   - kept: what the session file holds, to be said if that is anything.
    func conclude(
        _ upstream: Upstream,
        _ status: SenderStatus,
        _ fed: Result<Void, any Error> = .success(()),
        because cause: String?,
        kept: String? = nil
    ) throws {
        let hold = if case .waiting(let reason) = status { " (\(reason))" } else { "" }
        let cause = outputFailure ?? cause.map { $0 + hold }
        let (begin, rest) = (cause.map { $0 + ": " } ?? "", kept.map { "; " + $0 } ?? "")
        if !unknown.isEmpty { throw CommandFailure.unknownOutcome(begin + unknownText + rest) }
        if let refusal { throw CommandFailure.failed(refusal.message + rest) }
        if keptCount + unsentCount > 0, let kept { throw CommandFailure.failed(begin + kept) }
        if unsentCount > 0 {
            let begin = cause ?? "stopped"
            if case .unreachable(let actions) = status {
                throw CommandFailure.failed("\(begin): \(upstream.unreachable(actions: actions))")
            }
            throw CommandFailure.failed(
                isAnswered || !hold.isEmpty
                    ? "\(begin): the actions without a receipt were not sent, and will not be applied"
                    : "\(begin): no primary answered at \(upstream.endpoint), nothing was sent; check that "
                        + "statecast-primary runs there and that --from is the endpoint at which it publishes, or wait for "
                        + "it with --wait"
            )
        }
        if let outputFailure {
            throw CommandFailure.failed(outputFailure + (kept == nil ? "; not all outcomes are shown" : rest))
        }
        if case .failure(let error) = fed {
            guard error is CancellationError else {
                let failure = CommandFailure(error)
                throw failure.exitCode == .failure ? .failed(failure.message + rest) : failure
            }
            if let cause { throw CommandFailure.failed("\(cause) before the input ended" + rest) }
        }
        if rejectedCount > 0 { throw ExitCode.actionRejected }
    }

    private var unknownText: String {
        let sessions = unknown.sorted { $0.key.description < $1.key.description }.map { session, runs in
            let numbers = runs.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            return "\(numbers.joined(separator: ", ")) of session \(session)"
        }
        return "the outcome is unknown for number \(sessions.joined(separator: ", and "))"
    }
}
