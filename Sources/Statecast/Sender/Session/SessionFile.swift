internal import Locking

/// A file that keeps what a sender has not finished, so that the next process goes on where this one ended, however it
/// ended: no action is lost, none is applied twice.
///
/// ```swift
/// let file = try SessionFile(at: "/var/lib/meter/session", store: "readings")
/// let sender = try ActionSender(store: "readings", from: "tcp://127.0.0.1:7100", session: file)
/// for reading in readings(behind: file.position) {
///     _ = try await sender.submit(reading.action, position: reading.offset)
/// }
/// ```
///
/// The file is locked as long as this object or its sender lives, and belongs to one store. An action is on the disk
/// before it leaves; with it, how far the input was taken.
public final class SessionFile: Sendable {
    private struct Storage {
        /// `nil` once it was let go.
        var log: SessionLog?
        var saved: SavedSession
        var isClaimed = false
        /// How long the file may become before it is written anew.
        var bytesMax = SessionFile.rewriteBytesMin
    }

    /// Where it lies.
    public let path: String
    private let keepsOutcomes: Bool
    private let storage: Locked<Storage>

    /// Below that a file is not written anew, however little of it is still needed.
    static let rewriteBytesMin = 4 << 20

    /// Opens a session file, or makes one that holds nothing.
    ///
    /// - Throws: ``StatecastError`` with code `session` if another process has it, it is damaged, of a later version or of
    ///   another store, or cannot be read; with code `definition` if no store can have that name.
    public convenience init(at path: String, store: String) throws {
        try self.init(at: path, store: store, keepsOutcomes: false)
    }

    /// - Parameter keepsOutcomes: whether outcomes stay until ``ActionSender/acknowledge(upTo:)`` says that they are not needed
    ///   any more; otherwise until the process has them.
    package init(at path: String, store: String, keepsOutcomes: Bool) throws {
        self.path = path
        self.keepsOutcomes = keepsOutcomes
        let name: StoreName
        do { name = try StoreName(store) } catch { throw StatecastError(.definition, error.message, cause: error) }
        let log = try SessionLog(at: path)
        let saved = try Self.read(log, forgets: !keepsOutcomes)
        if let saved, saved.store != name {
            throw StatecastError(
                .session,
                "the session file \(path) belongs to store \(saved.store), not \(name): name another"
            )
        }
        var generator = SystemRandomNumberGenerator()
        let fresh = SavedSession(store: name, session: SessionID(using: &generator))
        try log.announce()
        storage = Locked(Storage(log: log, saved: saved ?? fresh))
    }

    private static func read(_ log: SessionLog, forgets: Bool) throws(StatecastError) -> SavedSession? {
        let records = try log.records()
        guard let first = records.first else { return nil }
        do throws(CodingFailure) {
            var saved = try SavedSession(decoding: first)
            for record in records.dropFirst() {
                try saved.apply(try SessionChange(decoding: record))
                if forgets { saved.forgetSettled() }
            }
            return saved
        } catch {
            throw log.damaged(SessionRecords.Damage(offset: SessionHeader.byteCount, message: error.message))
        }
    }

    // MARK: What it holds

    /// How far the input was taken, in the positions that were given with the actions; 0 at the beginning.
    public var position: UInt64 { mark.position }

    /// How many actions have no outcome yet.
    public var outstandingCount: Int { storage.withLock { $0.saved.outstandingCount } }

    package var mark: InputMark { storage.withLock { $0.saved.mark } }

    /// Whether anything is left to do: actions whose outcome nobody was told, or input that did not end.
    package var isUnfinished: Bool { storage.withLock { $0.saved.isUnfinished } }

    /// Another input begins; before the file has a sender.
    package func beginInput() { storage.withLock { $0.saved.beginInput() } }

    // MARK: For its sender

    /// Takes it for a sender: from now on it is written to.
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
            log.removeLeftovers()
            // Without what was cut short, and as short as it can be.
            try log.replace(with: storage.saved.encoded)
            try log.flushFolder()
            return storage.saved
        }
    }

    /// Keeps what happened; on return the disk has it.
    func save(_ change: SessionChange) throws(StatecastError) {
        try storage.withLock { storage throws(StatecastError) in
            guard let log = storage.log else { throw StatecastError(.session, "the session file \(path) was closed") }
            try log.append(change.encoded)
            do { try storage.saved.apply(change) } catch { preconditionFailure("the session file \(path): \(error)") }
            if !keepsOutcomes { storage.saved.forgetSettled() }
            guard log.end > storage.bytesMax else { return }
            // Where there is no room for it beside, the old one goes on.
            if (try? log.replace(with: storage.saved.encoded)) != nil { try log.flushFolder() }
            storage.bytesMax = max(Self.rewriteBytesMin, 2 * log.end)
        }
    }

    /// Lets it go.
    package func close() { storage.withLock { $0.log = nil } }
}
