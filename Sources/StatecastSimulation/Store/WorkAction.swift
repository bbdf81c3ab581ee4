import StatecastCore

/// An action of the simulation. It names its sender and its serial number there, so that the state shows which actions
/// were applied.
struct WorkAction: Action, Hashable, CustomStringConvertible {
    static let name = "work"

    let id: WorkID
    let kind: Kind
    /// Random bits, from which the change follows.
    let bits: UInt64

    enum Kind: UInt8, Codable {
        /// Changes some fields.
        case change
        /// The same, sent as a ``GuardedAction``.
        case guarded
        /// A policy rejects it.
        case rejected
        /// Changes so much that no two such actions fit an update.
        case large
        /// Its change does not fit an update.
        case tooLarge
        /// The process ends while it is reduced.
        case trap
        /// Reduced twice, it leads to different states.
        case random
        /// Starts an effect that dispatches another action.
        case effect
        /// Starts work that sends another action later.
        case work
        /// Cancels such work.
        case cancel
    }

    private enum CodingKeys: String, CodingKey {
        case id = "i"
        case kind = "k"
        case bits = "b"
    }

    var description: String { "\(kind) \(id)" }

    /// As which a sender sends it.
    var sent: any Action { kind == .guarded ? GuardedAction(work: self) : self }
}

/// An action under another name, which needs another right. A middleware replaces it.
struct GuardedAction: Action {
    static let name = "guarded"

    let work: WorkAction

    init(work: WorkAction) { self.work = work }
    init(from decoder: any Decoder) throws { work = try WorkAction(from: decoder) }
    func encode(to encoder: any Encoder) throws { try work.encode(to: encoder) }
}

/// A sender of the simulation, and the serial number of one of its actions.
struct WorkID: Codable, Hashable, Sendable, CustomStringConvertible {
    let sender: UInt32
    let serial: UInt32

    private enum CodingKeys: String, CodingKey {
        case sender = "s"
        case serial = "n"
    }

    /// The primary's own process.
    static let ownSender: UInt32 = 0
    /// From here on, the numbers of hostile peers; before, those of senders.
    static let firstHostileSender: UInt32 = 1 << 30
    /// From here on, the numbers of effects.
    static let firstEffectSender: UInt32 = 1 << 31

    init(sender: UInt32, serial: UInt32) { (self.sender, self.serial) = (sender, serial) }

    init(bits: UInt64) { self.init(sender: UInt32(bits >> 32), serial: UInt32(truncatingIfNeeded: bits)) }

    var bits: UInt64 { UInt64(sender) << 32 | UInt64(serial) }
    var description: String { "\(sender).\(serial)" }
}
