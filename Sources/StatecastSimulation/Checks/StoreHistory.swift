import Statecast
import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol

/// Everything that one store has stored and published; checks what its replicas show and its senders report against it.
///
/// After a loss of records the primary reuses their revision numbers, so a revision may have several versions. Each
/// belongs to the incarnation that made it, and ends with the first later incarnation that starts below its revision.
final class StoreHistory {
    private let world: World
    private let store: StoreName
    /// `nil` without a journal.
    private let journal: (any JournalContent)?

    /// What made a revision, and the state that it led to.
    private struct Version<Content> {
        let epoch: Epoch
        let content: Content
    }

    private struct History {
        var digests: [Revision: [Version<UInt64>]] = [:]
        var actions: [Revision: [Version<WorkID>]] = [:]
        var starts: [(epoch: Epoch, revision: Revision)] = []

        /// Whether a revision that an incarnation made is part of a later one's history.
        func survives(_ revision: Revision, of maker: Epoch, in epoch: Epoch) -> Bool {
            !starts.contains { $0.epoch > maker && $0.epoch <= epoch && $0.revision < revision }
        }

        func content<Content>(_ versions: [Revision: [Version<Content>]], at position: Position) -> Content? {
            versions[position.revision]?.last { $0.epoch <= position.epoch }
                .flatMap { survives(position.revision, of: $0.epoch, in: position.epoch) ? $0.content : nil }
        }
    }

    /// What one process has published. Of several nodes, a paused one may go on to publish after another has taken
    /// over.
    private struct Incarnation {
        /// The last published position.
        var position: Position
        var tree: Value
        var summary: Summary
        var appliedCount: Int
        /// The work that was started.
        var effectKeys: Set<String> = []
    }

    private var histories: [Lineage: History] = [:]
    /// By the name of the process.
    private var incarnations: [String: Incarnation] = [:]
    /// The process that started last.
    private var latest: String?
    /// Where each action was applied last.
    private var applications: [WorkID: Position] = [:]
    private var rejected: Set<WorkID> = []
    /// The user of each session, from its records.
    private var users: [SessionID: String] = [:]
    /// For each session, the records that it is in, with its last number there; `nil` if the record evicts it.
    private var numbers: [SessionID: [(record: JournalSequence, last: ActionNumber?)]] = [:]
    /// What senders were told of each action.
    private var isUnknown: [WorkID: Bool] = [:]
    /// The last record that a watermark named.
    private var lastOpened = JournalSequence(0)
    /// The last number of each session in its receipts.
    private var acknowledged: [SessionID: ActionNumber] = [:]
    /// Whether a start lacked what the incarnation before had published or acknowledged.
    private(set) var hasLostRecords = false
    /// Whether the power failed since the last start.
    private var hasLostPower = false
    /// The numbers with which each session may begin.
    private var bases: [SessionID: Set<ActionNumber>] = [:]
    /// When each action of a session was pushed first, and its name.
    private var pushes: [SessionID: [ActionNumber: (time: Instant, name: String)]] = [:]

    init(_ world: World, _ store: StoreName, _ journal: (any JournalContent)?) {
        (self.world, self.store, self.journal) = (world, store, journal)
    }

    /// The last record; 0 without a journal.
    var last: JournalSequence { journal?.written.last ?? JournalSequence(0) }

    /// Where an action was applied last.
    func application(of id: WorkID) -> Position? { applications[id] }

    /// Whether actions are published that are in no record yet.
    private var publishesUnrecorded: Bool { journal == nil }

    /// The last published position of the process that started last, and the digest of its state.
    var position: Position? { latest.flatMap { incarnations[$0]?.position } }
    var digest: UInt64? { latest.flatMap { incarnations[$0]?.summary.digest } }

    /// Whether several nodes share the journal.
    private var hasNodes: Bool { journal?.hasNodes == true }

    /// A process publishes nothing more.
    func ended(_ process: String) { if process != latest { incarnations[process] = nil } }

    // MARK: The journal

    /// A history begins with a state.
    func begun(_ lineage: Lineage, _ summary: Summary) {
        // Of several nodes, the second one may begin it again.
        guard histories[lineage] == nil else { return }
        histories[lineage] = History(digests: [Revision(0): [Version(epoch: Epoch(0), content: summary.digest)]])
    }

    /// An incarnation begins where its journal's records end.
    func claimed(_ start: EpochStart, in lineage: Lineage) {
        let last = journal?.written.head
        // The starts that were lost with a replaced server: those incarnations had published nothing.
        let kept = Set((journal?.written.epochs ?? []).dropLast().map(\.epoch))
        if hasNodes { histories[lineage]?.starts.removeAll { !kept.contains($0.epoch) } }
        world.require(
            start.revision == last,
            .recoveredWasPublished,
            "\(store) starts at revision \(start.revision), its journal ends at \(last.map { "\($0)" } ?? "none")"
        )
        world.require(
            histories[lineage]?.starts.allSatisfy { $0.epoch < start.epoch } ?? false,
            .recoveredWasPublished,
            "the store \(store) starts as incarnation \(start.epoch) of \(lineage) after a later one"
        )
        histories[lineage]?.starts.append((start.epoch, start.revision))
        guard let end = journal?.written.last else { return }
        // Records that were lost.
        for id in numbers.keys { numbers[id]?.removeAll { $0.record > end } }
        let losesRevisions = position.map { $0.lineage == lineage && start.revision < $0.revision } ?? false
        // Also those of rejections, which make no revision.
        let lost = acknowledged.filter { isLost($0.value, of: $0.key) }
        if losesRevisions || !lost.isEmpty {
            world.require(
                mayLoseRecords,
                .publishedIsDurable,
                "the store \(store) starts at \(start.revision) without records that it has published"
            )
        }
        // A session may have been opened after a record that was not published yet.
        hasLostRecords = hasLostRecords || losesRevisions || !lost.isEmpty || end < lastOpened && mayLoseRecords
        // Later starts do not lose them.
        for id in lost.keys { acknowledged[id] = nil }
        lastOpened = min(lastOpened, end)
    }

    /// Whether the journal's durability permits that a start lacks records that were published.
    private var mayLoseRecords: Bool {
        switch journal?.durability {
        case .full: false
        case .normal: hasLostPower
        case nil: true
        }
    }

    /// The power of the disk fails.
    func cutPower() { hasLostPower = true }

    /// A record was written.
    func recorded(_ record: JournalRecord, in lineage: Lineage) {
        let batch: BatchRecord
        do { batch = try BatchRecord(decoding: record.body) } catch {
            return world.violated(.recoveredWasPublished, "the record \(record.sequence) cannot be read: \(error)")
        }
        note(batch.summary.digest, at: Position(lineage: lineage, epoch: batch.epoch, revision: batch.to))
        for id in batch.forgotten {
            numbers[id, default: []].append((record.sequence, nil))
            users[id] = nil
        }
        for (position, id) in applications(in: batch, of: lineage) { noteMade(id, at: position) }
        for run in batch.runs {
            let last = run.first.advanced(by: run.entries.count - 1)
            let before = durableNumber(of: run.session)
            world.require(
                run.session == .primary
                    || before.map { $0.next == run.first } ?? bases[run.session]?.contains(run.first) ?? false,
                .appliedOnce,
                "record \(record.sequence) of \(store) has \(run.session)/\(run.first) after "
                    + (before.map { "\($0)" } ?? "none")
            )
            numbers[run.session, default: []].append((record.sequence, last))
            guard let user = run.user else { continue }
            let owner = users[run.session, default: user]
            users[run.session] = owner
            world.require(
                owner == user,
                .rightsHold,
                "record \(record.sequence) of \(store) has actions of \(user) in the session \(run.session) of \(owner)"
            )
            requireRights(of: user, run)
        }
    }

    /// Requires that a user had the right to its applied actions, and lacked that to those that are not permitted, at
    /// any time since they were pushed. The primary decides when the frame arrives.
    private func requireRights(of user: String, _ run: BatchRecord.Run) {
        for (index, entry) in run.entries.enumerated() {
            let number = run.first.advanced(by: index)
            guard let (time, name) = pushes[run.session]?[number] else { continue }
            let code = entry.rejection?.code
            let isRight =
                code == nil
                ? world.rights.hadRight(user, to: name, since: time)
                : code != .notPermitted || world.rights.lackedRight(user, to: name, since: time)
            world.require(
                isRight,
                .rightsHold,
                "the action \(name) \(run.session)/\(number) of \(user) was \(code.map { "\($0)" } ?? "applied")"
            )
        }
    }

    /// The last number of a session in the journal; `nil` if it has none.
    private func durableNumber(of session: SessionID) -> ActionNumber? { numbers[session]?.last?.last }

    /// Whether a number that was acknowledged is in no record, and its session was not evicted.
    private func isLost(_ number: ActionNumber, of session: SessionID) -> Bool {
        guard let entry = numbers[session]?.last else { return true }
        return entry.last.map { $0 < number } ?? false
    }

    /// A snapshot was stored.
    func stored(_ snapshot: JournalSnapshot, in lineage: Lineage) {
        guard let context = try? SnapshotContext(decoding: snapshot.context), let history = histories[lineage] else {
            return world.violated(.recoveredWasPublished, "\(store) stored a snapshot that cannot be read")
        }
        let revision = snapshot.entry.revision
        world.note("\(store) stored a snapshot of \(revision)")
        let position = Position(lineage: lineage, epoch: context.epoch, revision: revision)
        world.require(
            history.content(history.digests, at: position) == context.summary.digest,
            .recoveredWasPublished,
            "\(store) stored a snapshot of revision \(revision) with another state"
        )
    }

    private func note(_ digest: UInt64, at position: Position) {
        let versions = histories[position.lineage]?.digests[position.revision] ?? []
        if let last = versions.last, last.epoch == position.epoch {
            return world.require(
                last.content == digest,
                .shownWasPublished,
                "the store \(store) made two states at \(position)"
            )
        }
        histories[position.lineage]?.digests[position.revision] =
            versions + [Version(epoch: position.epoch, content: digest)]
    }

    // MARK: The primary

    /// An incarnation serves a recovered state.
    func started(at position: Position, state: Value, by process: String) {
        let (summary, last) = (Summary(of: state), self.position)
        if journal == nil {
            hasLostRecords = last != nil
            begun(position.lineage, summary)
            histories[position.lineage]?.starts = [(position.epoch, position.revision)]
        }
        world.require(
            digest(at: position) == summary.digest,
            .recoveredWasPublished,
            "the store \(store) starts at \(position) with another state than the recorded one"
        )
        let before = last.map { $0.lineage == position.lineage ? $0.revision : Revision(0) } ?? Revision(0)
        hasLostPower = false
        let count = Ledger(in: state)?.count ?? 0
        if !hasNodes { incarnations = [:] }
        incarnations[process] = Incarnation(position: position, tree: state, summary: summary, appliedCount: count)
        // Another node may have taken over before this one noticed that it has recovered.
        if last.map({ $0.lineage != position.lineage || $0.epoch < position.epoch }) ?? true { latest = process }
        noteRecords(after: before, in: position.lineage)
    }

    /// Notes actions that are durable, and were not published by the incarnation before.
    private func noteRecords(after published: Revision, in lineage: Lineage) {
        for record in journal?.written.records.suffix(while: { $0.to > published }) ?? [] {
            guard let batch = try? BatchRecord(decoding: record.body) else { continue }
            for (position, id) in applications(in: batch, of: lineage) where position.revision > published {
                noteApplied(id, at: position)
            }
        }
    }

    /// The applied actions of a record.
    private func applications(in batch: BatchRecord, of lineage: Lineage) -> [(Position, WorkID)] {
        var position = Position(lineage: lineage, epoch: batch.epoch, revision: batch.from)
        return batch.runs.flatMap(\.entries).compactMap { entry in
            guard entry.rejection == nil else { return nil }
            position = position.moved(to: position.revision.next)
            guard let action = try? Self.actions.decode(entry.action) as? WorkAction else {
                world.violated(.recoveredWasPublished, "the action of \(store) at \(position) cannot be read")
                return nil
            }
            return (position, action.id)
        }
    }

    /// An action led to a revision.
    private func noteMade(_ id: WorkID, at position: Position) {
        histories[position.lineage]?.actions[position.revision, default: []].append(
            Version(epoch: position.epoch, content: id)
        )
    }

    private static let actions = {
        do { return try ActionTable([WorkAction.self, GuardedAction.self]) } catch { preconditionFailure("\(error)") }
    }()

    /// A frame was published to all followers.
    func published(_ update: Update, by process: String) {
        guard var incarnation = incarnations[process] else { return }
        let position = incarnation.position
        let next = Position(lineage: update.lineage, epoch: update.epoch, revision: update.to)
        world.require(
            update.lineage == position.lineage && update.epoch == position.epoch && update.from == position.revision,
            .shownWasPublished,
            "the store \(store) published an update from \(update.from) to \(next) after \(position)"
        )
        if let journal {
            world.require(
                (journal.durability == .full ? journal.synced : journal.written).head.map { $0 >= update.to } ?? false,
                .publishedIsDurable,
                "the store \(store) published \(next) before its journal had it as \(journal.durability.rawValue) "
                    + "promises"
            )
            world.require(
                !hasNodes || journal.synced.epochs.contains { $0.epoch == update.epoch },
                .publishedIsDurable,
                "\(process) published \(next) before the start of its epoch was durable"
            )
            let starts = histories[update.lineage]?.starts ?? []
            world.require(
                !starts.contains { $0.epoch > update.epoch && $0.revision < update.to },
                .publishedIsDurable,
                "\(process) published \(next), which is no part of a later incarnation's history"
            )
        }
        do {
            try Patch(decoding: update.patch).apply(to: &incarnation.tree, summary: &incarnation.summary)
        } catch {
            return world.violated(.shownWasPublished, "the update to \(next) cannot be applied: \(error)")
        }
        incarnation.position = next
        note(incarnation.summary.digest, at: next)
        noteApplied(Ledger(in: incarnation.tree), through: next, in: &incarnation)
        incarnations[process] = incarnation
        guard !publishesUnrecorded, let history = histories[next.lineage] else { return }
        for revision in (update.from.rawValue..<update.to.rawValue).map({ Revision($0 + 1) }) {
            let position = next.moved(to: revision)
            if let id = history.content(history.actions, at: position) { noteApplied(id, at: position) }
        }
    }

    /// Receipts were published.
    func published(_ receipts: Receipts, for session: SessionID, by process: String) {
        guard let position = incarnations[process]?.position else { return }
        let last = receipts.outcomes.end.previous
        require(last, of: session, in: "receipts", orBefore: nil)
        acknowledged[session] = max(acknowledged[session] ?? last, last)
        for run in receipts.outcomes.runs {
            guard case .applied(let last) = run.outcome(of: run.end.previous) else { continue }
            world.require(
                last <= position.revision,
                .publishedIsDurable,
                "the store \(store) sent receipts up to revision \(last), it has published \(position)"
            )
        }
    }

    /// A watermark was published.
    func published(_ watermark: Watermark, for session: SessionID) {
        lastOpened = max(lastOpened, watermark.opened)
        // An unknown session's number is the one before the first action that its sender keeps.
        guard let number = watermark.number else { return }
        require(number, of: session, in: "a watermark", orBefore: bases[session]?.max())
    }

    /// Requires that a session's number is durable.
    private func require(
        _ number: ActionNumber,
        of session: SessionID,
        in frame: String,
        orBefore base: ActionNumber?
    ) {
        guard !publishesUnrecorded else { return }
        let last = [durableNumber(of: session), base?.previous].compactMap(\.self).max()
        world.require(
            last.map { number <= $0 } ?? false,
            .publishedIsDurable,
            "the store \(store) sent \(frame) of \(session) with number \(number), durable is "
                + (last.map { "\($0)" } ?? "none")
        )
    }

    /// - Parameter position: of the state that contains the ledger. Each action made one revision.
    private func noteApplied(_ ledger: Ledger?, through position: Position, in incarnation: inout Incarnation) {
        guard let ledger else { return world.violated(.shownWasPublished, "the state at \(position) has no ledger") }
        if let fault = ledger.fault { world.violated(.appliedOnce, "the store \(store) applied \(fault)") }
        let (appliedCount, distance) = (incarnation.appliedCount, ledger.count - incarnation.appliedCount)
        for (index, id) in publishesUnrecorded ? ledger.actions(from: appliedCount) : [] {
            let back = UInt64(appliedCount + distance - 1 - index)
            noteApplied(id, at: position.moved(to: Revision(position.revision.rawValue - back)))
        }
        incarnation.appliedCount = ledger.count
    }

    private func noteApplied(_ id: WorkID, at position: Position) {
        if publishesUnrecorded { noteMade(id, at: position) }
        if let before = applications.updateValue(position, forKey: id) {
            // A node that has recovered a record, and the one that has made it, publish the same.
            world.require(
                before == position && hasNodes || isLost(before, in: position),
                .appliedOnce,
                "the store \(store) applied \(id) at \(before) and at \(position)"
            )
        }
        world.require(
            hasLostRecords || !rejected.contains(id),
            .rejectedLeaveNoTrace,
            "the store \(store) applied \(id) at \(position), whose rejection was reported"
        )
    }

    /// Whether a position is not part of a later one's history.
    private func isLost(_ before: Position, in position: Position) -> Bool {
        before.lineage == position.lineage
            && histories[before.lineage]?.survives(before.revision, of: before.epoch, in: position.epoch) == false
    }

    /// Work of an effect was started.
    func startedEffect(_ key: IdempotencyKey, by process: String) {
        world.require(
            incarnations[process]?.effectKeys.insert("\(key)").inserted ?? false,
            .effectsStartOnce,
            "the store \(store) started the effect \(key) twice"
        )
        world.require(
            incarnations[process].map { key.revision <= $0.position.revision.rawValue } ?? false,
            .effectsStartOnce,
            "the store \(store) started the effect \(key) before its action was published"
        )
    }

    // MARK: Replicas and senders

    /// Actions are pushed.
    func pushed(_ frame: ActionsFrame) {
        let header = frame.header
        bases[header.session, default: []].insert(header.base)
        for (index, content) in frame.contents.enumerated() {
            let number = header.first.advanced(by: index)
            guard pushes[header.session]?[number] == nil, let action = try? Self.actions.decode(content) else {
                continue
            }
            pushes[header.session, default: [:]][number] = (world.now, type(of: action).name)
        }
    }

    private func digest(at position: Position) -> UInt64? {
        histories[position.lineage].flatMap { $0.content($0.digests, at: position) }
    }

    /// A replica shows a state.
    func shown(_ position: Position, digest: UInt64, by replica: String) {
        let maker = incarnations.values.first { $0.position.moved(to: position.revision) == position }
        let isAhead = maker.map { $0.position.revision < position.revision } ?? false
        let published = isAhead ? nil : self.digest(at: position)
        world.require(
            published == digest,
            .shownWasPublished,
            published == nil
                ? "\(replica) shows \(position), which was never published"
                : "\(replica) shows another state than was published at \(position)"
        )
    }

    /// A sender was told that its action is applied.
    func confirmed(_ id: WorkID, at position: Position, to sender: String) {
        guard let history = histories[position.lineage] else {
            return world.violated(.receiptsHold, "\(sender) was told that \(id) is applied at \(position)")
        }
        let applied = history.content(history.actions, at: position)
        // Without a record, the ledger shows only the last actions of each update.
        world.require(
            applied.map { $0 == id } ?? publishesUnrecorded,
            .receiptsHold,
            "\(sender) was told that \(id) is applied at \(position), where "
                + (applied.map { "\($0)" } ?? "no action") + " is"
        )
    }

    /// Whether a sender was told the outcome of an action.
    func hasReported(_ id: WorkID) -> Bool { isUnknown[id] != nil }

    /// Whether a sender was told that the outcome of an action is unknown.
    func hasReportedAsUnknown(_ id: WorkID) -> Bool { isUnknown[id] == true }

    /// A sender was told the outcome of an action.
    func reported(_ id: WorkID, isUnknown: Bool, to sender: String) {
        if let before = self.isUnknown.updateValue(isUnknown, forKey: id) {
            world.require(
                !before || isUnknown,
                .oneOutcome,
                "\(sender) was told the outcome of \(id), which was reported as unknown before"
            )
        }
    }

    /// A sender was told that its action is rejected.
    func rejected(_ id: WorkID, _ reason: String, to sender: String) {
        rejected.insert(id)
        if let position = applications[id], let current = self.position, !isLost(position, in: current) {
            world.violated(.rejectedLeaveNoTrace, "\(sender) was told \(reason) of \(id), applied at \(position)")
        }
    }
}

extension Array {
    /// The last elements that meet a condition.
    func suffix(while condition: (Element) -> Bool) -> ArraySlice<Element> {
        self[(lastIndex { !condition($0) }.map { $0 + 1 } ?? startIndex)...]
    }
}
