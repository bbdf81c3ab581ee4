import Foundation
import StatecastJournal
import StatecastProtocol
import StatecastThreading

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
    private let slots = Locked<[Use: Slot]>([:])

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
            let slot = Slot()
            slots[use] = slot
            return slot
        }
        return try slot.perform(uri, use.limit(times), body)
    }

    func close(_ use: Use) { slots.withLock { _ = $0.removeValue(forKey: use) } }

    /// A connection that may be absent.
    ///
    /// Unchecked, but safe: the lock is held while it is used.
    private final class Slot: @unchecked Sendable {
        private let lock = NSLock()
        private var connection: PostgresConnection?
        private var lastAttempt: ContinuousClock.Instant?

        func perform<Result>(
            _ uri: PostgresURI,
            _ limit: Duration,
            _ body: (PostgresConnection) throws(PostgresFailure) -> Result
        ) throws(PostgresFailure) -> Result {
            lock.lock()
            defer { lock.unlock() }
            let connection = try connected(uri, limit)
            defer { if !connection.isUsable { self.connection = nil } }
            return try body(connection)
        }

        private func connected(_ uri: PostgresURI, _ limit: Duration) throws(PostgresFailure) -> PostgresConnection {
            if let connection { return connection }
            if let lastAttempt {
                let wait = ContinuousClock.now.duration(to: lastAttempt + PostgresConnections.retryDelay)
                if wait > .zero { Thread.sleep(forTimeInterval: wait / .seconds(1)) }
            }
            lastAttempt = .now
            let made = try PostgresConnection(uri.options, limit: limit)
            connection = made
            return made
        }
    }
}
