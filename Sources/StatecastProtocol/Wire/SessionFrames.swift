import StatecastCoding
package import StatecastCore

/// The primary's knowledge of a session, and the parameters for sending to it. Answers a subscription to receipts, a
/// frame of another lineage, and a frame after lost outcomes.
package struct Watermark: Hashable, Sendable {
    package let lineage: Lineage
    package let epoch: Epoch
    /// The last durable number; `nil` if the session is unknown to the primary and the sender has no outcome of it.
    package let number: ActionNumber?
    /// The journal sequence at which the session was opened, or at which it would be opened now.
    package let opened: JournalSequence
    package let maxWindowActions: Int
    package let maxActionBytes: Int
    package let maxFrameBytes: Int
    /// The endpoint for a PUSH socket; a wildcard host stands for the host that the sender connected to.
    package let endpoint: String

    package init(
        lineage: Lineage,
        epoch: Epoch,
        number: ActionNumber?,
        opened: JournalSequence,
        maxWindowActions: Int,
        maxActionBytes: Int,
        maxFrameBytes: Int,
        endpoint: String
    ) {
        self.lineage = lineage
        self.epoch = epoch
        self.number = number
        self.opened = opened
        self.maxWindowActions = maxWindowActions
        self.maxActionBytes = maxActionBytes
        self.maxFrameBytes = maxFrameBytes
        self.endpoint = endpoint
    }

    func write(to writer: inout CBORWriter) {
        writer.begin(.watermark)
        writer.write(lineage)
        writer.write(epoch)
        if let number { writer.write(number) } else { writer.null() }
        writer.write(opened)
        writer.write(count: maxWindowActions)
        writer.write(count: maxActionBytes)
        writer.write(count: maxFrameBytes)
        writer.text(endpoint)
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            lineage: try reader.lineage(),
            epoch: try reader.quantity(),
            number: try reader.optional { reader throws(CodingFailure) in try reader.quantity() },
            opened: try reader.quantity(),
            maxWindowActions: try reader.count(),
            maxActionBytes: try reader.count(),
            maxFrameBytes: try reader.count(),
            endpoint: try reader.text()
        )
    }
}

/// The outcomes of consecutive actions of one session.
package struct Receipts: Hashable, Sendable {
    package let lineage: Lineage
    package let epoch: Epoch
    package let outcomes: OutcomeRuns

    package init(lineage: Lineage, epoch: Epoch, outcomes: OutcomeRuns) {
        self.lineage = lineage
        self.epoch = epoch
        self.outcomes = outcomes
    }

    func write(to writer: inout CBORWriter) {
        writer.begin(.receipts)
        writer.write(lineage)
        writer.write(epoch)
        writer.write(outcomes.start)
        outcomes.write(to: &writer)
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        lineage = try reader.lineage()
        epoch = try reader.quantity()
        let first: ActionNumber = try reader.quantity()
        outcomes = try OutcomeRuns(from: &reader, first: first, maxRuns: Limits.maxReceiptRuns)
    }
}

/// The answer to actions that are ahead of the session: the number that the primary expects.
package struct Expected: Hashable, Sendable {
    package let lineage: Lineage
    package let number: ActionNumber

    package init(lineage: Lineage, number: ActionNumber) {
        self.lineage = lineage
        self.number = number
    }

    func write(to writer: inout CBORWriter) {
        writer.begin(.expected)
        writer.write(lineage)
        writer.write(number)
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(lineage: try reader.lineage(), number: try reader.quantity())
    }
}

/// The refusal of a request, on the request's topic. All versions of the protocol share its form.
package struct Refusal: Hashable, Sendable {
    package let reason: Rejection
    /// `nil`: a retry does not help until something changes.
    package let retryAfter: Duration?
    /// The pushed frame that the refusal answers; `nil` if it answers a subscription.
    package let frame: PushedFrame?

    package init(_ reason: Rejection, retryAfter: Duration? = nil, frame: PushedFrame? = nil) {
        self.reason = reason
        self.retryAfter = retryAfter
        self.frame = frame
    }

    /// Identifies a frame of actions within its session. Subscribers to the session's receipts also get the refusals
    /// of late duplicates and of frames of other peers, and distinguish them by this identity.
    package struct PushedFrame: Hashable, Sendable {
        /// The journal sequence at which the session was opened, as stated in the frame.
        package let opened: JournalSequence
        package let first: ActionNumber

        package init(opened: JournalSequence, first: ActionNumber) {
            self.opened = opened
            self.first = first
        }
    }

    func write(to writer: inout CBORWriter) {
        writer.begin(.refusal)
        writer.write(reason)
        if let retryAfter { writer.write(retryAfter) } else { writer.null() }
        guard let frame else { return writer.null() }
        writer.array(count: 2)
        writer.write(frame.opened)
        writer.write(frame.first)
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            try reader.rejection(),
            retryAfter: try reader.optional { reader throws(CodingFailure) in try reader.duration() },
            frame: try reader.optional { reader throws(CodingFailure) in
                try reader.fixedArray(2)
                return PushedFrame(opened: try reader.quantity(), first: try reader.quantity())
            }
        )
    }
}
