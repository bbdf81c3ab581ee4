import DequeModule
import Statecast
import StatecastCoding
import StatecastCore
import StatecastProtocol
import StatecastThreading

/// The current values of a store for any number of streams: the newest state, the replica's status, and the last rows
/// of the log.
///
/// It keeps no queue for a stream: a stream remembers what it delivered, and compares that with the newest state when
/// its client takes more. The feed changes at most every ``pace``, so streams that keep up wait for the same change,
/// and share the bytes of its event.
final class StoreFeed: Sendable {
    /// The values at one moment.
    struct Current: Sendable {
        /// Counts the states.
        var version = 0
        var snapshot: StateSnapshot<Value>?
        var status = ReplicaStatus.joining
        /// When the status began.
        var since = Timestamp.systemClock()
        /// The number of all rows of the log.
        var rowCount = 0
        /// The last rows, as JSON.
        var rows: Deque<[UInt8]> = []
        /// Counts the comments that show that a stream is alive.
        var beats = 0

        /// The rows after a number of them, the last 200 at most, and how many were left out.
        func rows(after count: Int) -> (rows: [[UInt8]], skipped: Int) {
            let kept = min(rows.count, rowCount - count, StoreFeed.maxRowsAtOnce)
            return (Array(rows.suffix(kept)), rowCount - count - kept)
        }
    }

    /// The key of a cached event.
    struct EventKey: Hashable {
        let from: Position
        let to: Position
        let paths: [[String]]
        let depth: Int
    }

    static let pace = Duration.milliseconds(50)
    static let maxRowsAtOnce = 200
    static let maxRows = 1000
    /// Of one state: the bytes of more events are not kept.
    private static let maxEvents = 64
    private static let beat = Duration.seconds(10)

    private let replica: Replica<Value>
    private let current = Monitor(Current())
    private let events = Locked<(version: Int, bytes: [EventKey: [UInt8]?])>((0, [:]))

    init(_ replica: Replica<Value>) { self.replica = replica }

    var now: Current { current.value }

    /// Follows the replica until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                for await snapshot in replica.snapshots {
                    current.change { ($0.snapshot, $0.version) = (snapshot, $0.version + 1) }
                    try? await Task.sleep(for: Self.pace)
                }
            }
            group.addTask { [self] in
                for await status in replica.statuses {
                    current.change { if $0.status != status { ($0.status, $0.since) = (status, .systemClock()) } }
                }
            }
            group.addTask { [self] in
                while (try? await Task.sleep(for: Self.beat)) != nil { current.change { $0.beats += 1 } }
            }
        }
    }

    /// Appends the last ones of `count` rows to the log.
    func append(_ rows: [[UInt8]], count: Int) {
        guard count > 0 else { return }
        current.change { current in
            current.rows.append(contentsOf: rows.suffix(Self.maxRows))
            if current.rows.count > Self.maxRows { current.rows.removeFirst(current.rows.count - Self.maxRows) }
            current.rowCount += count
        }
    }

    /// Waits for something that a stream has not delivered.
    ///
    /// - Parameter hasLog: whether rows of the log count.
    func next(after seen: Current, hasLog: Bool) async throws -> Current {
        let (version, status, rows, beats) = (seen.version, seen.status, seen.rowCount, seen.beats)
        return try await current.wait { current in
            current.version != version || current.status != status || current.beats != beats
                || hasLog && current.rowCount != rows ? current : nil
        }
    }

    /// The bytes of an event, which streams with the same paths and version share.
    func event(_ key: EventKey, version: Int, _ make: () -> [UInt8]?) -> [UInt8]? {
        let known = events.withLock { events -> [UInt8]?? in
            if events.version != version { events = (version, [:]) }
            return events.bytes[key]
        }
        if let known { return known }
        let made = make()
        events.withLock { events in
            if events.version == version, events.bytes.count < Self.maxEvents { events.bytes[key] = .some(made) }
        }
        return made
    }
}
