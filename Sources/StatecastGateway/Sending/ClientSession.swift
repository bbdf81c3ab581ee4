import Logging
import Statecast
import StatecastCoding
import StatecastCore
import StatecastCryptography
import StatecastProtocol
import StatecastThreading

/// The actions that a client sends in one session, with the client's numbers.
///
/// The session's secret is derived, and the primary remembers the outcomes that the client may ask for again, so that
/// an action is applied once however often gateway, primary and client restart.
final class ClientSession: Sendable {
    /// The outcome of an action, as reported to the client.
    enum Outcome: Sendable {
        case applied(Revision)
        case rejected(Rejection)
        case unknown(String)
        /// Ask again.
        case pending
    }

    private struct Entry {
        let digest: ShortDigest
        let receipt: PendingReceipt
    }

    private struct Storage {
        /// The number that is submitted next.
        var next: UInt64
        /// Whether a request is submitting it.
        var isSubmitting = false
        var entries: [UInt64: Entry] = [:]
        /// Why the session cannot go on.
        var end: String?
        /// The sender closes, and another one will continue the session.
        var isClosing = false
        var lastUse = ContinuousClock.now
        var rate = TokenBucket()
    }

    /// How long a request waits for its outcome.
    static let maxWait = Duration.seconds(5)
    private static let rate = RateLimit(perSecond: GatewayLimits.maxSendsPerSecond, burst: .seconds(1))

    private let sender: ActionSender
    private let session: SessionID
    private let storage: Monitor<Storage>
    private let running: Task<Void, Never>
    private let began = ContinuousClock.now
    private let first: UInt64

    /// - Parameters:
    ///   - opening: where the client's session was opened; `nil`: it is new.
    ///   - first: the first number whose outcome the client needs.
    init(
        _ secret: SessionSecret,
        opening: SessionOpening?,
        first: ActionNumber,
        sender make: (ContinuedSession) throws -> ActionSender,
        logger: Logger
    ) throws {
        let sender = try make(ContinuedSession(secret, opening: opening, first: first))
        (self.sender, session, self.first) = (sender, secret.session, first.rawValue)
        storage = Monitor(Storage(next: first.rawValue))
        running = Task {
            do { try await sender.run() } catch { logger.warning("a client's session ended: \(error)") }
        }
    }

    /// Whether this process has an action of the session.
    var hasSubmitted: Bool { storage.value.next > first || storage.value.isSubmitting }

    /// Whether the session waits for numbers that the client does not send any more: an earlier gateway sent them, and
    /// the client has their outcomes.
    func lacks(numbersBefore lowest: UInt64) -> Bool { storage.value.next < lowest && !hasOpenActions }

    /// Whether it cannot go on.
    var isEnded: Bool { storage.value.end != nil }

    /// Whether actions have no outcome yet.
    var hasOpenActions: Bool {
        let storage = storage.value
        return storage.isSubmitting || storage.entries.values.contains { $0.receipt.known == nil }
    }

    var lastUse: ContinuousClock.Instant { storage.value.lastUse }

    func close() async {
        storage.change { $0.isClosing = true }
        await sender.close()
        await running.value
    }

    /// Waits until the primary has opened the session.
    ///
    /// - Returns: where, and whether it knows actions of the session already.
    /// - Throws: ``GatewayFailure``.
    func opening() async throws -> (place: SessionOpening, isKnown: Bool) {
        let status = try await within(Self.maxWait) { [sender] in
            for await status in sender.statuses {
                switch status {
                case .open, .refused: return status
                default: continue
                }
            }
            return sender.status
        }
        if case .refused(let reason)? = status { throw GatewayFailure(.notPermitted, reason.message) }
        guard let opening = await sender.opening else {
            throw GatewayFailure(.noState, "the primary does not answer; try again", retryAfter: 1)
        }
        return opening
    }

    // MARK: Actions

    /// Submits an action unless it was submitted before, and waits for its outcome.
    ///
    /// - Throws: ``GatewayFailure``.
    func send(
        _ number: UInt64,
        opened: SessionOpening,
        lowest: UInt64,
        action name: String,
        payload: Value,
        digest: ShortDigest
    ) async throws -> Outcome {
        if let place = await sender.opening?.place, place != opened {
            return .unknown("the session was opened at \(place), not at \(opened): begin another one")
        }
        let isPermitted = storage.change { storage -> Bool in
            storage.lastUse = .now
            storage.entries = storage.entries.filter { $0.key >= lowest || $0.value.receipt.known == nil }
            guard number >= storage.next else { return true }
            let openCount = storage.entries.values.count { $0.receipt.known == nil }
            guard openCount < GatewayLimits.maxInFlight else { return false }
            let now = Instant.origin.advanced(by: began.duration(to: .now))
            guard storage.rate.tokens(Self.rate, at: now) > 0 else { return false }
            storage.rate.take(1, of: Self.rate, at: now)
            return true
        }
        guard isPermitted else {
            throw GatewayFailure(
                .busy,
                "a session sends at most \(GatewayLimits.maxSendsPerSecond) actions a second, and has at most "
                    + "\(GatewayLimits.maxInFlight) in flight",
                retryAfter: 1
            )
        }
        await sender.releaseReceipts(before: ActionNumber(lowest))
        if let end = storage.value.end { return .unknown(end) }
        guard let receipt = try await receipt(number, name, payload, digest) else { return .pending }
        guard let outcome = try await within(Self.maxWait, { try await receipt.outcome() }) else { return .pending }
        return clientOutcome(outcome, of: number)
    }

    /// The receipt of an action, once all earlier ones are submitted; `nil` if they are not in time.
    private func receipt(
        _ number: UInt64,
        _ name: String,
        _ payload: Value,
        _ digest: ShortDigest
    ) async throws -> PendingReceipt? {
        let isFirst = try await within(Self.maxWait) { [storage] in
            // Others wait until the number is submitted.
            try await storage.wait { storage in
                number < storage.next ? false : number == storage.next && !storage.isSubmitting ? true : nil
            }
        }
        guard let isFirst else { return nil }
        guard isFirst else {
            guard let entry = storage.value.entries[number] else {
                throw GatewayFailure(
                    .numberUsed,
                    "number \(number) was sent before, and its outcome was released by \"lowest\", by default the "
                        + "number of a later request"
                )
            }
            guard entry.digest == digest else {
                throw GatewayFailure(.numberUsed, "number \(number) was sent before with another action or payload")
            }
            return entry.receipt
        }
        let claimed = storage.change { storage -> Bool in
            guard number == storage.next, !storage.isSubmitting else { return false }
            storage.isSubmitting = true
            return true
        }
        guard claimed else { return try await receipt(number, name, payload, digest) }
        let receipt = await sender.submit(named: name, payload: payload)
        storage.change { storage in
            storage.entries[number] = Entry(digest: digest, receipt: receipt)
            (storage.next, storage.isSubmitting) = (number + 1, false)
        }
        return receipt
    }

    private func clientOutcome(_ outcome: ActionOutcome, of number: UInt64) -> Outcome {
        let isOwn = outcome.session == session && outcome.number?.rawValue == number
        switch outcome.result {
        case .success(let receipt) where isOwn: return .applied(receipt.revision)
        // The sender has given it up, and the next one will have its outcome.
        case .failure where storage.value.isClosing: return .pending
        case .failure(let rejection) where isOwn && rejection.code != .outcomeUnknown: return .rejected(rejection)
        case .failure(let rejection):
            // Its number was not used: the numbers of later actions would be other ones.
            let end = "the session ended: \(rejection.message); begin another one"
            storage.change { $0.end = $0.end ?? end }
            let isRefused = rejection.code != .outcomeUnknown && rejection.code != .notSent
            return isRefused ? .rejected(rejection) : .unknown(rejection.message)
        case .success: return .unknown("the primary counted the action as another one of the session")
        }
    }
}
