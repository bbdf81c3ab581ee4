import StatecastCoding
public import StatecastCore

/// The reasons for which a primary refuses an action, a join or a frame.
///
/// Final rejections of an action are journaled like applied actions: the action's number is consumed, and every later
/// request gets the same answer. Transient rejections (see ``isTransient``) record nothing.
extension Rejection.Code {
    /// Final: the store has no action of this name.
    public static let unknownAction = Self(rawValue: "unknown-action")
    /// Final for an action that the access list does not permit. A refusal of a subscription that it does not permit,
    /// or that belongs to another endpoint.
    public static let notPermitted = Self(rawValue: "not-permitted")
    /// Final: the payload does not match the action's type; the message names the field.
    public static let undecodable = Self(rawValue: "undecodable")
    /// Final: the action or the resulting state exceeds a limit, which the message names.
    public static let tooLarge = Self(rawValue: "too-large")
    /// Final: the resulting state cannot be encoded, so replicas could not follow it.
    public static let unencodable = Self(rawValue: "unencodable")
    /// Final: the primary crashed twice in a row while reducing the action, and does not retry it.
    public static let crashedReducer = Self(rawValue: "crashed-reducer")

    /// Transient: too many sessions are active, or too many frames wait for the store.
    public static let overloaded = Self(rawValue: "overloaded")
    /// Transient: the primary's storage is full; actions wait until it has room.
    public static let storageFull = Self(rawValue: "storage-full")
    /// Transient: the join queue is full.
    public static let busy = Self(rawValue: "busy")

    /// The primary does not serve a store of this name.
    public static let unknownStore = Self(rawValue: "unknown-store")
    /// The peer speaks another version of the protocol.
    public static let unsupportedVersion = Self(rawValue: "unsupported-version")
    /// A topic, frame, name or endpoint is not well-formed.
    public static let malformed = Self(rawValue: "malformed")
    /// The primary no longer has the session, so it cannot determine which of its actions were applied.
    public static let unknownSession = Self(rawValue: "unknown-session")
    /// The primary has seen higher numbers than this sender sent: two processes use one session.
    public static let sessionDiverged = Self(rawValue: "session-diverged")
    /// The snapshot is no longer cached; join again.
    public static let snapshotGone = Self(rawValue: "snapshot-gone")
    /// The outcome cannot be determined: the wait ended, the primary stopped, or it no longer has the session. The
    /// action may have been applied.
    public static let outcomeUnknown = Self(rawValue: "outcome-unknown")
    /// The wait ended, or the sender stopped, before the action was sent. It was not applied and will not be.
    public static let notSent = Self(rawValue: "not-sent")
    /// The sender stopped waiting, and its session file keeps the action; a sender that resumes the session gets the
    /// outcome.
    public static let kept = Self(rawValue: "kept")
    /// The primary receives actions at an endpoint to which the sender does not connect; the message says why.
    public static let endpointRefused = Self(rawValue: "endpoint-refused")
    /// The published data does not fit the replica's types or limits.
    public static let incompatible = Self(rawValue: "incompatible")

    /// Whether a retry may succeed without any change.
    public var isTransient: Bool { self == .overloaded || self == .storageFull || self == .busy }

    /// The maximum size of a code that a middleware may define.
    package static let maxBytes = 64

    /// Whether the code can be the outcome of an action: a final code of the protocol, or a code of a middleware made
    /// of lower-case letters, digits and hyphens.
    package var isFinal: Bool {
        guard (1...Self.maxBytes).contains(rawValue.utf8.count), !Self.reserved.contains(self) else { return false }
        return rawValue.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
            default: false
            }
        }
    }

    /// The label for metrics: the code itself if the protocol names it, otherwise `policy`, so that codes from
    /// middlewares and peers cannot create unbounded labels.
    package var group: String { isOne(of: Self.named) ? rawValue : "policy" }

    /// Whether a set of short codes has this one.
    ///
    /// A peer's code may have as many bytes as a frame, and hashing it would normalize them.
    fileprivate func isOne(of codes: Set<Self>) -> Bool { rawValue.utf8.count <= Self.maxBytes && codes.contains(self) }

    private static let named: Set<Self> = reserved.union([
        .refused, .swallowed, .unknownAction, .notPermitted, .undecodable, .tooLarge, .unencodable, .crashedReducer,
    ])

    /// Codes that cannot be the outcome of an action.
    fileprivate static let reserved: Set<Self> = local.union([
        .overloaded, .storageFull, .busy, .unknownStore, .unsupportedVersion, .malformed, .unknownSession,
        .snapshotGone,
    ])

    /// Codes that are never on the wire: a peer decides them itself.
    fileprivate static let local: Set<Self> = [
        .sessionDiverged, .outcomeUnknown, .notSent, .kept, .endpointRefused, .incompatible, .stopped,
    ]
}

extension Rejection {
    /// The rejection of an action that exceeds `maxBytes`.
    static func tooLarge(_ bytes: Int, maxBytes: Int) -> Rejection {
        Rejection(.tooLarge, "an action has at most \(maxBytes) bytes, this one has \(bytes)")
    }

    /// This rejection as the final outcome of an action. A code that is not final or not well-formed becomes
    /// `refused`, and the message then begins with the code.
    ///
    /// If a middleware's `busy` reached the sender unchanged, the sender would retry forever and get the same answer.
    ///
    /// - Parameter maxMessageBytes: the maximum size of the message, the code in it included.
    package func final(maxMessageBytes: Int) -> Rejection {
        let truncated = truncated(to: maxMessageBytes)
        guard !code.isFinal else { return truncated.readable }
        // Truncate both before joining them: either may have megabytes.
        let code = code.rawValue.utf8.text(truncatedTo: maxMessageBytes) ?? code.rawValue
        return Rejection(.refused, "\(code): \(truncated.message)").truncated(to: maxMessageBytes).readable
    }

    /// This rejection with a message that senders, and the journal, can read.
    private var readable: Rejection {
        message.hasTooManyMarks ? Rejection(code, CodingFailure.tooManyMarks) : self
    }

    /// This rejection as a receipt's. It is final, also with a code that says that there is no outcome yet, which no
    /// correct primary sends: a program would wait for another one.
    var ofReceipt: Rejection { replacing(Code.reserved) }

    /// This rejection as a refusal's. It does not decide what only the sender knows.
    var ofRefusal: Rejection { replacing(Code.local) }

    /// This rejection with the code `refused` instead of one of some codes, which the message then begins with.
    private func replacing(_ codes: Set<Code>) -> Rejection {
        code.isOne(of: codes) ? Rejection(.refused, "\(code): \(message)") : self
    }

    /// This rejection with a message of at most `maxBytes` bytes of UTF-8.
    ///
    /// A message may quote a peer's input: it may have megabytes, or consist of a single grapheme cluster.
    package func truncated(to maxBytes: Int) -> Rejection {
        guard let text = message.utf8.text(truncatedTo: maxBytes) else { return self }
        return Rejection(code, text)
    }
}

extension BidirectionalCollection<UInt8> {
    /// The start of this UTF-8 as a text of at most `maxBytes` bytes that ends in dots; `nil` if all of it fits.
    ///
    /// Truncates between Unicode scalars. Reads no byte beyond the limit, so the cost does not depend on the length.
    package func text(truncatedTo maxBytes: Int) -> String? {
        let maxBytes = Swift.max(0, maxBytes)
        guard let limit = index(startIndex, offsetBy: maxBytes, limitedBy: endIndex), limit != endIndex else {
            return nil
        }
        let dots = "...".prefix(maxBytes)
        var end = index(limit, offsetBy: -dots.utf8.count)
        while end != startIndex, isWithinScalar(end) { formIndex(before: &end) }
        return String(decoding: self[..<end], as: UTF8.self) + dots
    }

    private func isWithinScalar(_ index: Index) -> Bool { UTF8.isContinuation(self[index]) }
}
