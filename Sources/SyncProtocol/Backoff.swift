/// Delays that double from attempt to attempt, each with jitter, so that many nodes that failed together do not try
/// together.
struct Backoff: Hashable, Sendable {
    let delayMin: Duration
    let delayMax: Duration
    private var attempts = 0

    init(_ limits: Limits) {
        delayMin = limits.retryDelayMin
        delayMax = limits.retryDelayMax
    }

    /// The next delay: between the full current one and half of it.
    mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let full = min(delayMax, delayMin * (1 << min(attempts, 20)))
        attempts += 1
        return full / 2 + Duration.random(upTo: full / 2, using: &generator)
    }

    /// Something got through: begin with short delays again.
    mutating func reset() { attempts = 0 }
}

extension Duration {
    /// A random duration from zero to `limit`, in whole microseconds.
    static func random(upTo limit: Duration, using generator: inout some RandomNumberGenerator) -> Duration {
        let (seconds, attoseconds) = limit.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        return .microseconds(Int64.random(in: 0...max(0, microseconds), using: &generator))
    }
}
