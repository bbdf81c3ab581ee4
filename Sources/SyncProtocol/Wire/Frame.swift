package import StateCore

/// What stands behind the address of a message: a CBOR array whose first element is the kind.
///
/// A reader ignores elements behind those that it knows, so that a later version of a frame can carry more.
package enum Frame: Hashable, Sendable {
    case update(Update)
    case heartbeat(Heartbeat)
    case welcome(Welcome)
    case chunk(Chunk)
    case watermark(Watermark)
    case receipts(Receipts)
    case expected(Expected)
    case refusal(Refusal)
    case schema(StoreSchema)
    case actions(ActionsFrame)
}

/// One published change: the patch leads from one revision to another.
package struct Update: Hashable, Sendable {
    package let lineage: Lineage
    package let epoch: Epoch
    package let from: Revision
    package let to: Revision
    /// The patch, encoded.
    package let patch: [UInt8]

    package init(lineage: Lineage, epoch: Epoch, from: Revision, to: Revision, patch: [UInt8]) {
        self.lineage = lineage
        self.epoch = epoch
        self.from = from
        self.to = to
        self.patch = patch
    }
}

/// A sign of life: where the primary stands, what its state's digest is there, and its wall clock.
package struct Heartbeat: Hashable, Sendable {
    package let lineage: Lineage
    package let epoch: Epoch
    package let head: Revision
    package let digest: UInt64
    package let time: Timestamp

    package init(lineage: Lineage, epoch: Epoch, head: Revision, digest: UInt64, time: Timestamp) {
        self.lineage = lineage
        self.epoch = epoch
        self.head = head
        self.digest = digest
        self.time = time
    }
}

/// The first answer to a join. Without an offer the joiner goes on from the position that it named; with one it starts
/// from that snapshot. Updates up to the head follow on the same topic, later ones on the feed.
package struct Welcome: Hashable, Sendable {
    package let lineage: Lineage
    package let epoch: Epoch
    package let head: Revision
    package let time: Timestamp
    /// The declared version of the state. Readers do not decide by it.
    package let fingerprint: UInt64
    package let heartbeatInterval: Duration
    package let offer: Offer?

    package init(
        lineage: Lineage,
        epoch: Epoch,
        head: Revision,
        time: Timestamp,
        fingerprint: UInt64,
        heartbeatInterval: Duration,
        offer: Offer?
    ) {
        self.lineage = lineage
        self.epoch = epoch
        self.head = head
        self.time = time
        self.fingerprint = fingerprint
        self.heartbeatInterval = heartbeatInterval
        self.offer = offer
    }

    /// A snapshot to pull, in chunks of `chunkBytes` (the last one may be shorter).
    package struct Offer: Hashable, Sendable {
        package let revision: Revision
        package let bytes: Int
        package let chunkBytes: Int
        package let digest: UInt64

        package init(revision: Revision, bytes: Int, chunkBytes: Int, digest: UInt64) {
            self.revision = revision
            self.bytes = bytes
            self.chunkBytes = chunkBytes
            self.digest = digest
        }
    }
}

/// A part of a snapshot; its address says of which, and where it belongs.
package struct Chunk: Hashable, Sendable {
    package let bytes: ArraySlice<UInt8>
    package init(bytes: ArraySlice<UInt8>) { self.bytes = bytes }
}

/// The answer to a subscription to receipts: what the primary has of the session, and how to send to it.
package struct Watermark: Hashable, Sendable {
    package let lineage: Lineage
    package let epoch: Epoch
    /// The last number whose outcome is durable; `nil` if the primary does not have the session.
    package let number: ActionNumber?
    /// The journal sequence at which the session was opened, or at which it would be opened now.
    package let opened: JournalSequence
    package let windowActionsMax: Int
    package let actionBytesMax: Int
    package let frameBytesMax: Int
    /// Where to connect a PUSH socket; a wildcard host stands for the host that the sender reached.
    package let endpoint: String

    package init(
        lineage: Lineage,
        epoch: Epoch,
        number: ActionNumber?,
        opened: JournalSequence,
        windowActionsMax: Int,
        actionBytesMax: Int,
        frameBytesMax: Int,
        endpoint: String
    ) {
        self.lineage = lineage
        self.epoch = epoch
        self.number = number
        self.opened = opened
        self.windowActionsMax = windowActionsMax
        self.actionBytesMax = actionBytesMax
        self.frameBytesMax = frameBytesMax
        self.endpoint = endpoint
    }
}

/// What became of an action, for good.
package enum Outcome: Hashable, Sendable {
    case applied(Revision)
    case rejected(Rejection)
}

/// The outcomes of consecutive actions of one session.
package struct Receipts: Hashable, Sendable {
    package let lineage: Lineage
    package let epoch: Epoch
    package let first: ActionNumber
    package let outcomes: [Outcome]

    package init(lineage: Lineage, epoch: Epoch, first: ActionNumber, outcomes: [Outcome]) {
        self.lineage = lineage
        self.epoch = epoch
        self.first = first
        self.outcomes = outcomes
    }
}

/// Actions arrived that lie ahead: this number was expected.
package struct Expected: Hashable, Sendable {
    package let lineage: Lineage
    package let number: ActionNumber

    package init(lineage: Lineage, number: ActionNumber) {
        self.lineage = lineage
        self.number = number
    }
}

/// A request that was not granted, answered on the topic that asked. All versions of the protocol agree on its form.
package struct Refusal: Hashable, Sendable {
    package let reason: Rejection
    /// `nil`: asking again is of no use until something changes.
    package let retryAfter: Duration?
    /// The pushed frame that the refusal answers; `nil` where it answers a subscription.
    package let frame: PushedFrame?

    package init(_ reason: Rejection, retryAfter: Duration? = nil, frame: PushedFrame? = nil) {
        self.reason = reason
        self.retryAfter = retryAfter
        self.frame = frame
    }

    /// Identifies a frame of actions within its session. Subscribers to the session's receipts also get the answers to
    /// late duplicates and to frames of strangers, and tell them apart by this.
    package struct PushedFrame: Hashable, Sendable {
        /// The journal sequence at which the session was opened, as the frame states it.
        package let opened: JournalSequence
        /// The number of the frame's first action.
        package let first: ActionNumber

        package init(opened: JournalSequence, first: ActionNumber) {
            self.opened = opened
            self.first = first
        }
    }
}

/// The actions that a store knows, and where it stands.
package struct StoreSchema: Hashable, Sendable {
    package let lineage: Lineage
    package let fingerprint: UInt64
    package let actions: [Entry]
    package let epoch: Epoch
    package let head: Revision
    /// How many senders the primary remembers.
    package let sessions: Int
    /// What an acknowledged action survives, as the primary's settings call it; `nil` without a journal.
    package let durability: String?

    package init(
        lineage: Lineage,
        fingerprint: UInt64,
        actions: [Entry],
        epoch: Epoch,
        head: Revision,
        sessions: Int,
        durability: String?
    ) {
        self.lineage = lineage
        self.fingerprint = fingerprint
        self.actions = actions
        self.epoch = epoch
        self.head = head
        self.sessions = sessions
        self.durability = durability
    }

    /// An action's name and an example of its payload, encoded; `nil` where the type gives none.
    package struct Entry: Hashable, Sendable {
        package let name: String
        package let example: [UInt8]?

        package init(name: String, example: [UInt8]?) {
            self.name = name
            self.example = example
        }
    }
}

/// Upwards: consecutive actions of one session.
package struct ActionsFrame: Hashable, Sendable {
    package let lineage: Lineage
    package let session: SessionID
    /// The journal sequence at which the session was opened, from its first watermark.
    package let opened: JournalSequence
    /// The number with which the session began in this lineage.
    package let base: ActionNumber
    /// The number of the first action here.
    package let first: ActionNumber
    /// Each action encoded for itself: `[name, payload]`.
    package let actions: [[UInt8]]

    package init(
        lineage: Lineage,
        session: SessionID,
        opened: JournalSequence,
        base: ActionNumber,
        first: ActionNumber,
        actions: [[UInt8]]
    ) {
        self.lineage = lineage
        self.session = session
        self.opened = opened
        self.base = base
        self.first = first
        self.actions = actions
    }

    /// What a refusal of this frame names.
    package var identity: Refusal.PushedFrame { Refusal.PushedFrame(opened: opened, first: first) }
}
