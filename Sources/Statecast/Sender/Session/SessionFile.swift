import StatecastCoding
package import StatecastProtocol
import StatecastThreading

/// A file that keeps a sender's unfinished actions. The next process continues from it, whatever ended this one: no
/// action is lost, and none is applied twice.
///
/// ```swift
/// let file = try SessionFile(at: "/var/lib/meter/session", store: "readings")
/// let sender = try ActionSender(store: "readings", from: "tcp://127.0.0.1:7100", session: file)
/// for reading in readings(after: file.position) {
///     _ = try await sender.submit(reading.action, position: reading.offset)
/// }
/// ```
///
/// The file is locked as long as this object or its sender exists, and belongs to one store. An action and its position
/// in the input are durable before the action is sent.
public final class SessionFile: SessionStorage {
    private struct Storage {
        /// `nil` after ``close()``.
        var log: SessionLog?
        var saved: SavedSession
        var isClaimed = false
        /// The size at which the file is rewritten.
        var maxBytes = SessionFile.minRewriteBytes
    }

    /// The path that was given.
    public let path: String
    private let retention: OutcomeRetention
    private let storage: Locked<Storage>

    /// A smaller file is not rewritten.
    static let minRewriteBytes = 4 << 20

    /// Opens a session file, or creates an empty one.
    ///
    /// - Throws: ``StatecastError`` with code `session` if another process has the file open, or if the file is
    ///   damaged, of a later version or of another store, or cannot be read; with code `definition` if the store's name
    ///   is invalid.
    public convenience init(at path: String, store: String) throws(StatecastError) {
        try self.init(at: path, store: store, outcomes: .untilDelivered)
    }

    /// How long a session file keeps outcomes.
    package enum OutcomeRetention: Sendable {
        /// Until the process has received them.
        case untilDelivered
        /// Until ``ActionSender/acknowledge(upTo:)`` acknowledges them.
        case untilAcknowledged
    }

    package init(at path: String, store: String, outcomes retention: OutcomeRetention) throws(StatecastError) {
        self.path = path
        self.retention = retention
        let name = try StoreName(checking: store)
        let log = try SessionLog(at: path)
        let saved = try Self.read(log, retention)
        if let saved, saved.store != name {
            throw StatecastError(
                .session,
                "the session file \(path) belongs to store \(saved.store), not \(name): name another file"
            )
        }
        var generator = SystemRandom()
        let fresh = SavedSession(store: name, SessionSecret(using: &generator))
        try log.announce()
        storage = Locked(Storage(log: log, saved: saved ?? fresh))
    }

    private static func read(_ log: SessionLog, _ retention: OutcomeRetention) throws(StatecastError) -> SavedSession? {
        let records = try log.records()
        guard let first = records.first else { return nil }
        do throws(CodingFailure) {
            var saved = try SavedSession(decoding: first)
            for record in records.dropFirst() {
                let change = try SessionChange(decoding: record)
                try saved.apply(change)
                if retention == .untilDelivered { saved.dropResolved(after: change) }
            }
            try saved.requireResumable()
            return saved
        } catch {
            throw log.damaged(at: SessionHeader.byteCount, error.message)
        }
    }

    // MARK: Content

    /// The position in the input that was given with the last action; 0 at the beginning.
    public var position: UInt64 { mark.position }

    /// The number of actions without an outcome.
    public var outstandingCount: Int { storage.withLock { $0.saved.outstandingCount } }

    package var mark: InputMark { storage.withLock { $0.saved.mark } }

    /// Whether there are actions with an outcome that is not acknowledged, or input that did not end.
    package var isUnfinished: Bool { storage.withLock { $0.saved.isUnfinished } }

    /// Begins another input. The file must not have a sender yet.
    package func beginInput() { storage.withLock { $0.saved.beginInput() } }

    // MARK: Use by a sender

    /// Claims the file for a sender, and rewrites it.
    func claim(for store: StoreName) throws(StatecastError) -> SavedSession {
        try storage.withLock { storage throws(StatecastError) in
            guard let log = storage.log, !storage.isClaimed else {
                throw StatecastError(.session, "the session file \(path) has or had a sender: open it anew")
            }
            guard storage.saved.store == store else {
                throw StatecastError(
                    .session,
                    "the session file \(path) belongs to store \(storage.saved.store), not \(store)"
                )
            }
            storage.isClaimed = true
            log.removeTemporaryFiles()
            // Drops an incomplete record at the end.
            try log.replace(with: storage.saved.encoded)
            try log.syncFolder()
            return storage.saved
        }
    }

    package func save(_ change: SessionChange) throws(SaveFailure) {
        try storage.withLock { storage throws(SaveFailure) in
            guard let log = storage.log else {
                throw SaveFailure("the session file \(path) was closed", mayBeSaved: false)
            }
            try log.append(change.encoded)
            do { try storage.saved.apply(change) } catch { preconditionFailure("the session file \(path): \(error)") }
            if retention == .untilDelivered { storage.saved.dropResolved(after: change) }
            guard log.end > storage.maxBytes else { return }
            // Without room for a second file, the first one continues to grow.
            if (try? log.replace(with: storage.saved.encoded)) != nil {
                do throws(StatecastError) { try log.syncFolder() } catch {
                    throw SaveFailure(error.message, mayBeSaved: true)
                }
            }
            storage.maxBytes = max(Self.minRewriteBytes, 2 * log.end)
        }
    }

    /// Unlocks the file.
    package func close() { storage.withLock { $0.log = nil } }
}
