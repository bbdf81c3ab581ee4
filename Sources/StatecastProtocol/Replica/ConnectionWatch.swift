import StatecastCore

/// Decides when a replica replaces a connection that is open and delivers nothing: a proxy or a NAT may have forgotten
/// it, which neither end can notice otherwise.
struct ConnectionWatch: Hashable, Sendable {
    /// When the last message arrived, or a connection began to be awaited.
    private var silentSince: Instant
    /// The number of replacements since the last message.
    private var replacements = 0
    /// A random time after the silence was noticed; `nil` before.
    private var replacementAt: Instant?

    init(at now: Instant) { silentSince = now }

    /// A message arrived.
    mutating func heard(at now: Instant) { self = ConnectionWatch(at: now) }

    /// A message is awaited from now on. Before, silence meant nothing.
    mutating func startWaiting(at now: Instant) { (silentSince, replacementAt) = (now, nil) }

    /// The time of the next ``tick(at:maxSilence:_:using:)``.
    ///
    /// - Parameter maxSilence: The time within which a working connection delivers a message.
    func deadline(maxSilence: Duration, _ limits: Limits) -> Instant {
        if let replacementAt { return replacementAt }
        // A message of the primary sets `maxSilence`, which may be too large to be multiplied.
        guard maxSilence < limits.maxReconnectDelay else { return silentSince.advanced(by: maxSilence) }
        return silentSince.advanced(by: min(limits.maxReconnectDelay, maxSilence * (1 << min(replacements, 20))))
    }

    /// - Returns: Whether the connection is to be replaced now.
    mutating func tick(
        at now: Instant,
        maxSilence: Duration,
        _ limits: Limits,
        using generator: inout some RandomNumberGenerator
    ) -> Bool {
        guard now >= deadline(maxSilence: maxSilence, limits) else { return false }
        guard replacementAt != nil else {
            let delay = Duration.random(upTo: limits.maxReconnectJitter, using: &generator)
            replacementAt = now.advanced(by: max(delay, .microseconds(1)))
            return false
        }
        (silentSince, replacements, replacementAt) = (now, replacements + 1, nil)
        return true
    }
}
