internal import Logging
internal import SyncProtocol

/// What happens to a record: it is made durable, and only then seen.
extension StoreHost {
    func commit(_ record: Record) {
        defer { settled.removeAll(keepingCapacity: true) }
        guard let journal else { return surroundings.commit(name, record) }
        write(record, to: journal)
        guard journal.durability == .relaxed else { return }
        do throws(JournalFailure) { try journal.checkPublishing() } catch { return journaled(.failure(error)) }
        committed(through: record.sequence)
    }

    func committed(through sequence: JournalSequence) {
        perform(machine.committed(through: sequence, at: surroundings.clock.now))
        // Not before all of them are shown: what is published is then where the machine is.
        storeSnapshotIfDue()
    }

    /// Updates and receipts are out. Now those in this process: observers, effects, who waits for an action.
    func becameDurable(_ record: Record) {
        let batch = underway.removeFirst()
        published = batch.state
        publishedSummary = record.summary
        metrics.closed(record, batch.tally)
        if let update = record.update { show(at: update.to) }
        for (observer, replay) in batch.joining { audience.join(observer, replay: replay) }
        for followUp in batch.followUps {
            start(followUp)
            followUp.local?.settle(receipt(for: followUp))
        }
        clearSuspicions(record)
    }

    /// Shows its own process what is published.
    func show(at revision: Revision) {
        definition.entrance.show(published)
        audience.show(published, revision: revision.rawValue)
    }

    private func receipt(for followUp: FollowUp) -> Result<Receipt, Rejection> {
        switch followUp.outcome {
        case .applied(let revision):
            let position = Position(lineage: machine.lineage, epoch: machine.epoch, revision: revision)
            return .success(Receipt(session: followUp.session, number: followUp.number, position: position))
        case .rejected(let rejection): return .failure(rejection)
        }
    }

    private func start(_ followUp: FollowUp) {
        guard !followUp.effect.isNone, case .applied(let revision) = followUp.outcome else { return }
        let key = IdempotencyKey(lineage: machine.lineage.description, revision: revision.rawValue, index: 0)
        effects.start(followUp.effect, key: key)
    }

    /// The store ends while the record of an action is on its way to be durable.
    func leaveUnknown(_ followUp: FollowUp) {
        let reason = "the primary was stopped; action \(followUp.number) may or may not have been made durable"
        followUp.local?.settle(.failure(Rejection(.outcomeUnknown, reason)))
    }
}
