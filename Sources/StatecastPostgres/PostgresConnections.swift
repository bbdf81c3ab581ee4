import StatecastJournal
import StatecastProtocol
import StatecastThreading

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The connections of a node to one database: one for each kind of use, so that a commit that waits for another server
/// delays no reader. Each is made when it is needed, and made again after it was lost.
final class PostgresConnections: Sendable {
    enum Use: Hashable {
        /// Observing and claiming.
        case leadership
        case commits(StoreName)
        case snapshots
        case reading

        /// How long a statement may take.
        func limit(_ times: CommitTimes) -> Duration {
            self == .snapshots || self == .reading ? max(.seconds(10), times.limit) : times.limit
        }
    }

    private let uri: PostgresURI
    let times: CommitTimes
    private let slots = Locked<[Use: Locked<Slot>]>([:])

    /// After a connection could not be made, or was lost, the next one is made after this time.
    private static let retryDelay = Duration.milliseconds(100)

    init(_ uri: PostgresURI, _ times: CommitTimes) { (self.uri, self.times) = (uri, times) }

    /// Performs statements on the connection for a use; calls for the same use wait for each other.
    ///
    /// - Throws: ``PostgresFailure``, also from `body`.
    func with<Result>(
        _ use: Use,
        _ body: (PostgresConnection) throws(PostgresFailure) -> Result
    ) throws(PostgresFailure) -> Result {
        let slot = slots.withLock { slots in
            if let slot = slots[use] { return slot }
            let slot = Locked(Slot())
            slots[use] = slot
            return slot
        }
        return try slot.withLock { slot throws(PostgresFailure) in
            try slot.perform(uri, use.limit(times), body)
        }
    }

    func close(_ use: Use) { slots.withLock { _ = $0.removeValue(forKey: use) } }

    /// A connection that may be absent.
    private struct Slot {
        private var connection: PostgresConnection?
        private var lastAttempt: ContinuousClock.Instant?

        mutating func perform<Result>(
            _ uri: PostgresURI,
            _ limit: Duration,
            _ body: (PostgresConnection) throws(PostgresFailure) -> Result
        ) throws(PostgresFailure) -> Result {
            let connection = try connected(uri, limit)
            defer { if !connection.isUsable { self.connection = nil } }
            return try body(connection)
        }

        private mutating func connected(
            _ uri: PostgresURI,
            _ limit: Duration
        ) throws(PostgresFailure) -> PostgresConnection {
            if let connection { return connection }
            if let lastAttempt {
                let wait = ContinuousClock.now.duration(to: lastAttempt + PostgresConnections.retryDelay)
                if wait > .zero { usleep(UInt32(wait / .microseconds(1))) }
            }
            lastAttempt = .now
            let made = try PostgresConnection(uri.options, limit: limit)
            connection = made
            return made
        }
    }
}
