import StatecastProtocol

/// Decides when a node closes its connections because its process has too much memory: a second line against peers
/// whose messages libzmq collects before the node sees them. The first one is the service manager's limit.
///
/// The memory of the process in RAM says when to look. What counts are the bytes that the allocator has handed out: the
/// others are free, and will be used again.
struct MemoryGuard {
    enum Verdict: Hashable {
        case fine
        /// Close all connections. The bytes in use.
        case close(Int)
        /// Connections were closed, and the memory has not fallen by a quarter: the program itself uses it.
        case notOfPeers(Int)
    }

    private let maxBytes: Int
    private var closing: Closing?

    /// The last time that connections were closed.
    private struct Closing {
        let at: Instant
        /// The bytes in use then, and the fewest since.
        let bytes: Int
        var fewest: Int
        /// The time until the next decision.
        let pause: Duration
        /// Whether the memory was found not to be of peers.
        var wasInVain = false

        var hasFallen: Bool { fewest <= bytes / 4 * 3 }
    }

    private static let minPause = Duration.seconds(30)
    private static let maxPause = Duration.seconds(600)

    init(maxBytes: Int) { self.maxBytes = maxBytes }

    /// Judges the memory of the process. Call it once a second.
    ///
    /// - Parameters:
    ///   - resident: the bytes in RAM.
    ///   - allocated: the bytes that the allocator has handed out, which takes longer to find out.
    mutating func check(resident: Int, allocated: () -> Int, at now: Instant) -> Verdict {
        let bytes = resident > maxBytes ? min(resident, allocated()) : resident
        if let fewest = closing?.fewest { closing?.fewest = min(fewest, bytes) }
        guard bytes > maxBytes else { return .fine }
        guard let last = closing else { return close(bytes, at: now, pause: Self.minPause) }
        let elapsed = last.at.duration(to: now)
        guard elapsed >= last.pause else { return .fine }
        guard last.hasFallen else {
            closing?.wasInVain = true
            return last.wasInVain ? .fine : .notOfPeers(bytes)
        }
        return close(
            bytes,
            at: now,
            pause: elapsed > Self.maxPause ? Self.minPause : min(last.pause * 2, Self.maxPause)
        )
    }

    private mutating func close(_ bytes: Int, at now: Instant, pause: Duration) -> Verdict {
        closing = Closing(at: now, bytes: bytes, fewest: bytes, pause: pause)
        return .close(bytes)
    }
}
