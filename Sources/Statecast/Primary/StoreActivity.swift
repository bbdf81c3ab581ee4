import StatecastProtocol

/// What a store has done since it began to be served.
package struct StoreActivity {
    /// The actions that were applied or rejected.
    private(set) var actions: UInt64 = 0
    /// The rejected ones, by code.
    private(set) var rejected: [String: UInt64] = [:]
    /// The commits to its journal.
    var commits = RecentTimes()

    mutating func count(_ event: StoreEvent) {
        guard case .published(let counts, _) = event else { return }
        actions += UInt64(counts.total)
        for (code, count) in counts.rejected { rejected[code.group, default: 0] += UInt64(count) }
    }
}

/// The durations of the last events of one kind.
struct RecentTimes: Sendable {
    private var times: [Duration] = []
    private var next = 0

    /// The number of events whose durations it has.
    private static let capacity = 512

    mutating func append(_ time: Duration) {
        if times.count < Self.capacity { times.append(time) } else { times[next] = time }
        next = (next + 1) % Self.capacity
    }

    /// The duration that 99 of 100 events do not exceed; `nil` before the first one.
    var percentile99: Duration? {
        times.isEmpty ? nil : times.sorted()[(times.count * 99 + 99) / 100 - 1]
    }
}
