import Dispatch
import Logging
import StatecastProtocol

/// Whether a replica or a sender reaches its primary.
enum Presence: Equatable {
    /// The primary answers.
    case present
    /// The primary does not answer, or not yet.
    case absent
    /// The primary answers, but nothing answers at its endpoint for actions.
    case unreachable(actions: String)
    /// The primary answers, and refuses actions for now.
    case paused(Rejection)
    /// The primary answers, and refuses the node; or what it publishes does not fit.
    case refused(Rejection)

    /// Compares reasons by their codes: the message may differ each time.
    static func == (one: Presence, other: Presence) -> Bool {
        switch (one, other) {
        case (.present, .present), (.absent, .absent): true
        case (.unreachable(let one), .unreachable(let other)): one == other
        case (.paused(let one), .paused(let other)), (.refused(let one), .refused(let other)): one.code == other.code
        default: false
        }
    }
}

extension ReplicaStatus {
    var presence: Presence {
        switch self {
        case .live: .present
        case .joining, .stale: .absent
        case .refused(let reason), .incompatible(let reason): .refused(reason)
        }
    }
}

extension SenderStatus {
    var presence: Presence {
        switch self {
        case .open: .present
        case .connecting: .absent
        case .waiting(let reason): .paused(reason)
        case .unreachable(let endpoint): .unreachable(actions: endpoint)
        case .refused(let reason): .refused(reason)
        }
    }
}

/// Logs that a node's primary is absent, refuses actions or the node, and when that ends. Each condition is logged once
/// until the primary answers: a refusal at once, the others after ``patience``.
struct PresenceLog {
    static let patience = Duration.seconds(2)

    enum Role { case replica, sender }

    private let role: Role
    private let endpoint: String
    private let store: StoreName
    /// What else to check if the primary of a node with keys does not answer: libzmq does not say why a connection
    /// fails.
    private let keyAdvice: String
    private let logger: Logger
    private var wasPresent = false
    /// The condition that was logged, until it ends.
    private var logged: Presence?
    /// The condition that is logged at an instant, unless it ends before.
    private var due: (presence: Presence, at: Instant)?

    init(_ role: Role, _ store: StoreName, at endpoint: String, hasKeys: Bool, _ logger: Logger) {
        (self.role, self.store, self.endpoint, self.logger) = (role, store, endpoint, logger)
        keyAdvice =
            hasKeys
            ? ", that it has the expected key, that its access list permits this node's key, and that the endpoint is "
                + "the one for \(role == .replica ? "states" : "receipts")"
            : ""
    }

    mutating func changed(to presence: Presence, at now: Instant) {
        if due?.presence != presence { due = nil }
        switch presence {
        case .absent, .unreachable, .paused:
            if due == nil, logged != presence { due = (presence, now.advanced(by: Self.patience)) }
        case .refused(let reason):
            guard logged != presence else { return }
            logged = presence
            let work = role == .replica ? "follow" : "send to"
            log(.warning, "cannot \(work) the primary at \(endpoint): \(reason.beginning)")
        case .present:
            if let logged { log(.notice, endMessage(of: logged)) }
            logged = nil
            wasPresent = true
        }
    }

    mutating func tick(at now: Instant) {
        guard let due, now >= due.at else { return }
        (logged, self.due) = (due.presence, nil)
        log(.notice, beginMessage(of: due.presence))
    }

    /// The next deadline of the node: its machine's, or that of the next ``tick(at:)`` if it is earlier.
    func nextDeadline(orEarlier other: Instant?) -> Instant? {
        guard let due else { return other }
        return other.map { min($0, due.at) } ?? due.at
    }

    private func beginMessage(of presence: Presence) -> String {
        switch presence {
        case .unreachable(let actions):
            "the primary at \(endpoint) accepts actions at \(actions), where no process answers: waiting for it; check "
                + "the endpoint for actions that the primary advertises"
        case .paused(let reason): "the primary at \(endpoint) accepts no actions for now: \(reason.beginning)"
        case .absent where wasPresent: "the primary at \(endpoint) fell silent, waiting for it"
        default:
            "waiting for the primary at \(endpoint): check that it runs, and that this is the endpoint at which it "
                + "publishes\(keyAdvice)"
        }
    }

    private func endMessage(of presence: Presence) -> String {
        if case .paused = presence { return "the primary at \(endpoint) accepts actions again" }
        return "the primary at \(endpoint) answers"
    }

    private func log(_ level: Logger.Level, _ message: String) {
        logger.log(level: level, "\(message)", metadata: ["store": "\(store)"])
    }
}

/// Logs dispatched actions that are rejected, of which no caller learns: the first one with each code.
struct RejectedDispatchLog {
    private static let maxCodes = 64

    private let store: StoreName
    private let logger: Logger
    private var codes: Set<Rejection.Code> = []

    init(_ store: StoreName, _ logger: Logger) { (self.store, self.logger) = (store, logger) }

    mutating func rejected(_ rejection: Rejection) {
        let rejection = rejection.beginning
        guard codes.count < Self.maxCodes, codes.insert(rejection.code).inserted else { return }
        logger.warning(
            "a dispatched action was rejected; further ones with this code are not logged",
            metadata: ["store": "\(store)", "reason": "\(rejection)"]
        )
    }
}

extension Rejection {
    /// The rejection for a log: a peer chooses the code and the message, which may be long.
    fileprivate var beginning: Rejection {
        func beginning(_ text: String, _ count: Int) -> String {
            let start = text.unicodeScalars.prefix(count)
            return start.endIndex == text.endIndex ? text : String(start) + "…"
        }
        return Rejection(Code(rawValue: beginning(code.rawValue, 64)), beginning(message, 512))
    }
}

/// Reminds of `run()`: before it, a node does nothing, and its callers wait.
enum RunReminder {
    /// Logs a notice after ``PresenceLog/patience``, unless `run()` was called or the node was released by then.
    ///
    /// - Parameter pending: the node's description; `nil` if `run()` was called, or the node was released.
    static func schedule(_ logger: Logger, _ pending: @escaping @Sendable () -> String?) {
        let delay = Int(PresenceLog.patience / .milliseconds(1))
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(delay)) {
            guard let node = pending() else { return }
            logger.notice("the \(node) was created, and does nothing before run() is called")
        }
    }
}
