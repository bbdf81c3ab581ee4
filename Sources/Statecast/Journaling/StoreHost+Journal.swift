internal import DequeModule
internal import Journal
internal import Logging
internal import SyncProtocol

/// What goes into the journal, and what comes of it.
extension StoreHost {
    // MARK: Into it

    /// An action as the journal keeps it; nothing where there is none.
    func bytesForJournal(of action: any Action) -> Result<[UInt8], Rejection> {
        guard journal != nil else { return .success([]) }
        do {
            let bytes = try ActionCoding.encode(action)
            if let rejection = machine.rejection(ofBytes: bytes.count) { return .failure(rejection) }
            return .success(bytes)
        } catch {
            return .failure(Rejection(.unencodable, "the action cannot be journaled: \(error)"))
        }
    }

    /// Hands a record to the journal, with the actions that are settled in it.
    func write(_ record: Record, to journal: JournalWriter) {
        var batch = BatchRecord(
            epoch: machine.epoch,
            from: record.from,
            to: record.to,
            digest: record.summary.digest,
            bytes: record.summary.bytes,
            runs: runs(of: record),
            forgotten: record.forgotten,
            patch: record.update?.patch ?? []
        )
        batch.dropMessages(bytesMax: surroundings.limits.sessionMessageBytesMax)
        let body = batch.encoded
        snapshots.count(body.count)
        journal.append(JournalRecord(sequence: record.sequence, from: record.from, to: record.to, body: body))
    }

    private func runs(of record: Record) -> [BatchRecord.Run] {
        var actions = settled[...]
        return record.outcomes.flatMap { outcomes in
            let count = outcomes.last.distance(beyond: outcomes.first) + 1
            defer { actions = actions.dropFirst(count) }
            return runs(of: actions.prefix(count), opened: outcomes.opened)
        }
    }

    /// What came at different times stands apart, since each run has one time.
    private func runs(of actions: ArraySlice<SettledAction>, opened: JournalSequence) -> [BatchRecord.Run] {
        var runs: [BatchRecord.Run] = []
        for action in actions {
            if runs.last?.time != action.context.time || runs.last?.user != action.context.user {
                let run = BatchRecord.Run(
                    session: action.session,
                    opened: opened,
                    first: action.number,
                    time: action.context.time,
                    user: action.context.user,
                    entries: []
                )
                runs.append(run)
            }
            runs[runs.count - 1].entries.append(BatchRecord.Entry(action))
        }
        return runs
    }

    // MARK: Out of it

    func journaled(_ outcome: Result<JournalSequence, JournalFailure>) {
        switch outcome {
        case .success(let sequence):
            if journal?.durability != .relaxed { committed(through: sequence) }
            if fullUntil != nil { logger.notice("there is room in the journal again", metadata: ["store": "\(name)"]) }
            fullUntil = nil
        case .failure(let failure) where failure.code == .storageFull:
            noteLackOfRoom(failure)
            if journal?.durability == .relaxed { refuseWaiting(failure) } else { goBack(failure) }
        case .failure(let failure): surroundings.fail(StatecastError(.journal, "\(failure)", cause: failure))
        }
    }

    var hasRoom: Bool {
        guard let journal else { return true }
        return machine.hasRoom && journal.bytes < surroundings.limits.uncommittedBytesMax
    }

    /// Waits until the journal has all that was handed to it.
    func settleJournal() {
        guard let journal else { return }
        // It says so to the loop, too, where nobody will be there any more.
        for outcome in journal.drain() { journaled(outcome) }
    }

    // MARK: No room

    /// Whether actions are refused for lack of room.
    var isFull: Bool { fullUntil.map { surroundings.clock.now < $0 } ?? false }

    private func noteLackOfRoom(_ failure: JournalFailure) {
        if fullUntil == nil {
            logger.error("\(failure); actions are refused until there is", metadata: ["store": "\(name)"])
        }
        fullUntil = surroundings.clock.now.advanced(by: surroundings.limits.retryDelayMin)
    }

    /// There was no room for what was reduced: it is as if its actions had never come. Those of senders come again by
    /// themselves, those of this process wait, or are told so if somebody waits for them.
    private func goBack(_ failure: JournalFailure) {
        let senders = machine.rollBack()
        (state, closed, summary) = (published, published, publishedSummary)
        let undone = underway.flatMap(\.followUps)
        for (observer, replay) in underway.flatMap(\.joining) { audience.join(observer, replay: replay) }
        underway.removeAll()
        waiting.insert(
            contentsOf: undone.compactMap(\.local).compactMap { refused($0, failure) },
            at: waiting.startIndex
        )
        journal?.mend()
        for (session, frame) in senders { perform(refusalForLackOfRoom(frame, of: session)) }
    }

    /// Tells all who wait for actions that cannot be taken.
    private func refuseWaiting(_ failure: JournalFailure) {
        waiting = Deque(
            waiting.compactMap { request in
                guard case .action(let action) = request else { return request }
                return refused(action, failure)
            }
        )
    }

    /// Tells who waits for an action; if nobody does, the action waits.
    private func refused(_ action: LocalAction, _ failure: JournalFailure) -> LocalRequest<State>? {
        guard case .awaited = action else { return .action(action) }
        action.settle(.failure(Rejection(.storageFull, failure.message)))
        return nil
    }

    /// What senders are told while there is no room.
    func refusalForLackOfRoom(_ frame: ActionsFrame) -> [PrimaryDirective]? {
        isFull ? refusalForLackOfRoom(frame.identity, of: frame.session) : nil
    }

    private func refusalForLackOfRoom(_ frame: Refusal.PushedFrame, of session: SessionID) -> [PrimaryDirective] {
        machine.refuse(
            frame,
            of: session,
            Rejection(.storageFull, "the primary has no room to store actions; they wait until it has"),
            retryAfter: surroundings.limits.retryDelayMin
        )
    }

    // MARK: Actions that end the process

    /// - Throws: ``Rejection`` with code `crashed-reducer` for an action that ended the process time and again.
    func refusePoison(_ session: SessionID, _ number: ActionNumber) throws(Rejection) {
        guard let reductions, reductions.hasSuspects, reductions.isPoison(session, number) else { return }
        throw Rejection(
            .crashedReducer,
            "the primary crashed twice in a row while it reduced this action, and does not try again"
        )
    }

    /// Whatever is settled did not end the process, or will not again.
    func clearSuspicions(_ record: Record) {
        guard let reductions, reductions.hasSuspects else { return }
        for outcomes in record.outcomes {
            var number = outcomes.first
            while number <= outcomes.last {
                reductions.resolve(outcomes.session, number)
                number = number.next
            }
        }
    }
}

extension BatchRecord.Entry {
    fileprivate init(_ action: SettledAction) {
        switch action.outcome {
        case .applied: self.init(action: action.bytes, rejection: nil)
        case .rejected(let rejection): self.init(action: action.bytes, rejection: rejection)
        }
    }
}
