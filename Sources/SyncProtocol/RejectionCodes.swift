public import StateCore

/// What an action, a join or a frame is refused for across processes.
///
/// Final rejections of an action are recorded like applied actions are: the action's number is used up and the same
/// answer is given however often one asks. Transient ones (see ``isTransient``) record nothing.
extension Rejection.Code {
    /// Final: the store has no action of this name.
    public static let unknownAction = Self(rawValue: "unknown-action")
    /// Final: the payload is not what the action's type needs; the message names the field.
    public static let undecodable = Self(rawValue: "undecodable")
    /// Final: the action, or what it would make of the state, exceeds a limit, which the message names.
    public static let tooLarge = Self(rawValue: "too-large")
    /// Final: the state that the action leads to cannot be encoded, so nobody could follow it.
    public static let unencodable = Self(rawValue: "unencodable")
    /// Final: the primary crashed twice in a row while it reduced the action, and does not try again.
    public static let crashedReducer = Self(rawValue: "crashed-reducer")

    /// Transient: more sessions are active at once than the primary keeps, or more actions wait for a store's journal.
    public static let overloaded = Self(rawValue: "overloaded")
    /// Transient: the primary has no room to store actions; they wait until it has.
    public static let storageFull = Self(rawValue: "storage-full")
    /// Transient: more joins are waiting than the primary queues.
    public static let busy = Self(rawValue: "busy")

    /// The primary does not serve a store of this name.
    public static let unknownStore = Self(rawValue: "unknown-store")
    /// The peer speaks another version of the protocol.
    public static let unsupportedVersion = Self(rawValue: "unsupported-version")
    /// A topic, frame, name or endpoint is not well-formed.
    public static let malformed = Self(rawValue: "malformed")
    /// The primary no longer knows the session, so it cannot tell what it has applied before.
    public static let unknownSession = Self(rawValue: "unknown-session")
    /// The primary has seen higher numbers than this sender ever sent: two processes use one session.
    public static let sessionDiverged = Self(rawValue: "session-diverged")
    /// The snapshot is no longer kept; join again.
    public static let snapshotGone = Self(rawValue: "snapshot-gone")
    /// The sender stopped waiting: the action may or may not have been applied.
    public static let outcomeUnknown = Self(rawValue: "outcome-unknown")
    /// The sender stopped waiting before the action left the process: it has not been applied and will not be.
    public static let notSent = Self(rawValue: "not-sent")
    /// The sender stopped waiting, and its session file keeps the action: whoever resumes it learns what becomes of it.
    public static let kept = Self(rawValue: "kept")
    /// The primary takes actions at an endpoint to which the sender does not connect; the message says why.
    public static let endpointRefused = Self(rawValue: "endpoint-refused")
    /// What the primary publishes does not fit the replica's types or its limits.
    public static let incompatible = Self(rawValue: "incompatible")

    /// Whether asking again later may succeed without any change.
    public var isTransient: Bool { self == .overloaded || self == .storageFull || self == .busy }

    /// The most bytes of a code that a middleware may give.
    package static let bytesMax = 64

    /// Whether it can be the outcome of an action. Codes that middlewares make up can, if they are words of lower-case
    /// letters, digits and hyphens; those that mean something else to a peer cannot.
    package var isFinal: Bool {
        guard (1...Self.bytesMax).contains(rawValue.utf8.count), !Self.reserved.contains(self) else { return false }
        return rawValue.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
            default: false
            }
        }
    }

    /// The code where the protocol names it, `policy` for all that middlewares make up: what is counted by it has few
    /// kinds, also where a code is made from what a peer sent.
    package var group: String { Self.named.contains(self) ? rawValue : "policy" }

    /// The codes that the protocol names.
    private static let named: Set<Self> = reserved.union([
        .refused, .swallowed, .unknownAction, .undecodable, .tooLarge, .unencodable, .crashedReducer,
    ])

    /// What a peer would not take for the outcome of its action.
    private static let reserved: Set<Self> = [
        .overloaded, .storageFull, .busy, .unknownStore, .unsupportedVersion, .malformed, .unknownSession,
        .sessionDiverged, .snapshotGone, .outcomeUnknown, .notSent, .kept, .endpointRefused, .incompatible, .stopped,
    ]
}

extension Rejection {
    /// The same as the outcome of an action, which it is for good: where its code says otherwise or is not well-formed,
    /// that becomes `refused`, and the code goes into the message.
    ///
    /// A sender that was told `busy` by a policy would wait and ask again, and get the same answer for ever.
    ///
    /// - Parameter messageBytesMax: what the message is cut to, the code in it included.
    package func final(messageBytesMax: Int) -> Rejection {
        let message = cut(to: messageBytesMax)
        guard !code.isFinal else { return message }
        // Cut apart, before they are joined: either may have megabytes, of which nobody is told.
        let code = code.rawValue.utf8.text(cutTo: messageBytesMax) ?? code.rawValue
        return Rejection(.refused, "\(code): \(message.message)").cut(to: messageBytesMax)
    }
}
