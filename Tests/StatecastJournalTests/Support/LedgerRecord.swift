import StatecastCoding
import StatecastCore
import StatecastProtocol
import StatecastThreading
import Testing

/// What a ledger has published in one history, and what its senders were told: what a later start must find.
struct PublishedLedger {
    let lineage: Lineage
    private(set) var epoch: Epoch
    private var tree: Value
    private var summary: Summary
    /// The digest of each published revision.
    private var digests: [UInt64]
    /// The last revision that was published and stored.
    private(set) var stored: Revision
    /// The one before: what the file "marks" notes at least, if one of its two slots is damaged.
    private(set) var storedBefore: Revision
    private(set) var senders: [LedgerSender]
    /// Whether everything that was published is stored; a rejected action changes no revision.
    private(set) var isStored = true

    /// A history begins.
    init(_ start: Position, _ state: Ledger, senders: [LedgerSender]) throws {
        (lineage, epoch, stored, storedBefore) = (start.lineage, start.epoch, start.revision, start.revision)
        tree = try StateEncoder().value(of: state)
        summary = Summary(of: tree)
        digests = [summary.digest]
        self.senders = senders
    }

    /// The last published revision.
    var head: Revision { Revision(UInt64(digests.count - 1)) }

    /// Whether a state was published at a revision.
    func hasPublished(_ state: Ledger, at revision: Revision) throws -> Bool {
        guard revision <= head else { return false }
        return try digests[Int(revision.rawValue)] == Summary(of: StateEncoder().value(of: state)).digest
    }

    /// A process continues the history, perhaps from an earlier revision, or from a later one that was not published.
    ///
    /// - Parameter mayLack: whether records may be lost that were stored.
    mutating func continued(_ start: Position, _ state: Ledger, mayLack: Bool) throws {
        if mayLack || !isStored { for index in senders.indices { senders[index].renew() } }
        isStored = true
        tree = try StateEncoder().value(of: state)
        summary = Summary(of: tree)
        let revision = Int(start.revision.rawValue)
        // The revisions in between belong to one record: no later start can find them.
        while digests.count <= revision { digests.append(0) }
        digests.removeSubrange((revision + 1)...)
        digests[revision] = summary.digest
        epoch = start.epoch
        (stored, storedBefore) = (start.revision, start.revision)
    }

    /// Notes frames that a process published.
    mutating func published(_ frames: [(topic: Topic, frame: Frame)]) throws {
        if !frames.isEmpty { isStored = false }
        for (topic, frame) in frames {
            switch (topic, frame) {
            case (.feed, .update(let update)):
                #expect(update.lineage == lineage && update.epoch == epoch && update.from == head)
                try Patch(decoding: update.patch).apply(to: &tree, summary: &summary)
                while digests.count < update.to.rawValue { digests.append(0) }
                digests.append(summary.digest)
            case (.receipts(let session), let answer):
                guard let index = senders.firstIndex(where: { $0.session == session }) else { continue }
                senders[index].received(answer, in: lineage)
            default: break
            }
        }
    }

    /// All that was published is stored.
    mutating func noteStored() {
        isStored = true
        guard stored < head else { return }
        (storedBefore, stored) = (stored, head)
    }

    /// The next frames of all senders.
    mutating func nextFrames(using random: inout SplitMix64) throws -> [(frame: ActionsFrame, secret: SessionSecret)] {
        var frames: [(frame: ActionsFrame, secret: SessionSecret)] = []
        for index in senders.indices {
            if let frame = try senders[index].nextFrame(to: lineage, using: &random) {
                frames.append((frame, senders[index].secret))
            }
        }
        return frames
    }
}

/// A sender, which resends the actions that have no receipt.
struct LedgerSender {
    private(set) var secret: SessionSecret
    var session: SessionID { secret.session }
    private let origin: String
    private var opened: JournalSequence?
    private var serial: UInt64 = 0
    private var next = ActionNumber(1)
    private var outstanding: [(number: ActionNumber, bytes: [UInt8])] = []
    private var outcomes: [ActionNumber: Outcome] = [:]

    init(_ origin: String, using random: inout SplitMix64) {
        self.origin = origin
        secret = SessionSecret(high: random.next(), low: random.next())
    }

    /// Begins another session: the primary lost a part of its history.
    mutating func renew() {
        secret = SessionSecret(high: secret.high &+ 1, low: secret.low)
        (opened, next, outstanding, outcomes) = (nil, ActionNumber(1), [], [:])
    }

    /// The last number with a receipt.
    private var receipted: ActionNumber { (outstanding.first?.number ?? next).previous }

    mutating func received(_ answer: Frame, in lineage: Lineage) {
        switch answer {
        case .watermark(let watermark):
            if let opened {
                #expect(watermark.opened == opened || receipted == ActionNumber(0), "the session \(origin) is lost")
                let number = watermark.number ?? ActionNumber(0)
                #expect(number >= receipted, "of \(origin), \(receipted) has a receipt, and \(number) is stored")
            }
            if receipted == ActionNumber(0) { opened = watermark.opened }
        case .receipts(let receipts):
            for run in receipts.outcomes.runs {
                for index in 0..<run.count {
                    let number = run.first.advanced(by: index)
                    resolve(number, run.outcome(of: number))
                }
            }
        default: break
        }
    }

    private mutating func resolve(_ number: ActionNumber, _ outcome: Outcome) {
        outstanding.removeAll { $0.number <= number }
        if let known = outcomes.updateValue(outcome, forKey: number) {
            #expect(known == outcome, "the action \(number) of \(origin) has two outcomes")
        }
    }

    mutating func nextFrame(to lineage: Lineage, using random: inout SplitMix64) throws -> ActionsFrame? {
        guard let opened else { return nil }
        if outstanding.isEmpty {
            for _ in 0..<random.below(4) {
                serial += 1
                let entry = Entry(origin: origin, serial: serial, bits: random.next())
                outstanding.append((next, try entry.encoded))
                next = next.next
            }
        }
        guard let first = outstanding.first?.number else { return nil }
        return ActionsFrame(
            lineage: lineage,
            session: session,
            opened: opened,
            base: ActionNumber(1),
            lowest: first,
            first: first,
            actions: outstanding.map(\.bytes)
        )
    }
}
