internal import ArgumentParser
internal import Statecast

/// What became of all the actions of a command, as far as its end depends on it.
struct SendTally: Sendable {
    /// Runs of numbers without an outcome, by session.
    private var unknown: [SessionID: [ClosedRange<UInt64>]] = [:]
    private var hasRejected = false
    private var hasUnsent = false
    private var hasApplied = false
    /// Whether the session file keeps actions that have no outcome.
    private var hasKept = false
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
        case .applied: hasApplied = true
        case .rejected: hasRejected = true
        case .notSent: hasUnsent = true
        case .kept: hasKept = true
        case .refusedSession(let rejection): refusal = refusal ?? rejection
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
        if hasKept || hasUnsent, let kept { throw CommandFailure.failed(begin + kept) }
        if hasUnsent {
            let begin = cause ?? "stopped"
            if case .unreachable(let actions) = status {
                throw CommandFailure.failed("\(begin): \(upstream.unreachable(actions: actions))")
            }
            throw CommandFailure.failed(
                hasApplied || hasRejected || !hold.isEmpty
                    ? "\(begin): the actions without a receipt were not sent, and will not be applied"
                    : "\(begin): no primary answered at \(upstream.endpoint), nothing was sent; check that "
                        + "statecast-primary runs there and that --from is the endpoint at which it publishes"
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
        if hasRejected { throw ExitCode.actionRejected }
    }

    private var unknownText: String {
        let sessions = unknown.sorted { $0.key.description < $1.key.description }.map { session, runs in
            let numbers = runs.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            return "\(numbers.joined(separator: ", ")) of session \(session)"
        }
        return "the outcome is unknown for number \(sessions.joined(separator: ", and "))"
    }
}
