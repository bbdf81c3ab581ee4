import Logging
import StatecastJournal
import StatecastProtocol

/// The operator's log of a store. Each entry has the metadata `store`.
struct StoreLog {
    private let logger: Logger
    private let store: StoreName
    private var rejectedDispatches: RejectedDispatchLog

    init(_ store: StoreName, _ logger: Logger) {
        (self.store, self.logger) = (store, logger)
        rejectedDispatches = RejectedDispatchLog(store, logger)
    }

    private func log(
        _ level: Logger.Level,
        _ message: @autoclosure () -> Logger.Message,
        _ metadata: @autoclosure () -> Logger.Metadata = [:]
    ) {
        logger.log(level: level, message(), metadata: metadata().merging(["store": "\(store)"]) { $1 })
    }

    /// - Parameters:
    ///   - journal: `nil` for a store without a journal.
    ///   - report: how the state was recovered.
    func started(at position: Position, _ journal: JournalWriter?, _ report: RecoveryReport?) {
        var metadata: Logger.Metadata = ["epoch": "\(position.epoch)", "revision": "\(position.revision)"]
        guard let journal, let report else { return log(.notice, "started without a journal", metadata) }
        metadata["journal"] = "\(journal.description)"
        metadata["durability"] = "\(journal.durability)"
        metadata["milliseconds"] = "\(Int(report.duration / .milliseconds(1)))"
        guard let snapshot = report.snapshot else { return log(.notice, "started a new history", metadata) }
        metadata["snapshot"] = "\(snapshot)"
        metadata["replayed"] = "\(report.records)"
        log(.notice, "started", metadata)
    }

    func stopped(at position: Position) {
        log(.notice, "stopped", ["epoch": "\(position.epoch)", "revision": "\(position.revision)"])
    }

    func stateDiffers(at revision: Revision) {
        log(
            .error,
            """
            the state differs from the published one: a part of it changed while its == reported no change; \
            verifyState of StatecastTesting names it
            """,
            ["revision": "\(revision)"]
        )
    }

    mutating func log(_ notice: StoreNotice) {
        switch notice {
        case .rejected(let rejection, _, isDispatched: true): rejectedDispatches.rejected(rejection)
        case .rejected(let rejection, let user, _):
            var metadata: Logger.Metadata = ["reason": "\(rejection)"]
            metadata["user"] = user.map { "\($0)" }
            // The operator of the primary learns by this alone which action ended the process.
            log(rejection.code == .crashedReducer ? .error : .debug, "action rejected", metadata)
        case .otherUser(let session, let user, let owner):
            log(
                .warning,
                "a user tried to use another user's session, and gets no answer",
                ["user": "\(user)", "owner": "\(owner)", "session": "\(session)"]
            )
        case .warning(let warning): log(.warning, "runtime warning", ["warning": "\(warning)"])
        case .full(let message): log(.error, "\(message); actions are refused until there is room")
        case .hasRoomAgain: log(.notice, "there is room in the journal again")
        case .unencodable(let failure):
            // Every change was encoded before, so only a type with an inconsistent encoding fails here.
            log(.critical, "the state cannot be encoded for joining replicas", ["error": "\(failure)"])
        }
    }
}
