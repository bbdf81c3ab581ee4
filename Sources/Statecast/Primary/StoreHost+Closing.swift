/// From the outcomes of a batch to its record: one patch for all that a turn reduced.
internal import StateCoding

extension StoreHost {
    /// Ends the batch, if there is one.
    func closeBatch() {
        guard machine.hasOpenBatch else { return }
        do { close(try difference()) } catch { closeOneByOne() }
        batch.removeAll(keepingCapacity: true)
    }

    private func close(_ difference: Difference) {
        closed = state
        summary = difference.summary
        var tally = Tally()
        for action in settled { tally.count(action.outcome) }
        underway.append(
            ClosedBatch(state: state, tally: tally, followUps: followUps, cancelled: cancelled, joining: joining)
        )
        followUps.removeAll()
        cancelled.removeAll()
        joining.removeAll()
        held.take()?.release()
        perform(machine.close(patch: difference.patch, summary: summary))
    }

    /// How the state came to be what it is, since the last record.
    private struct Difference {
        let patch: [UInt8]
        let summary: Summary
    }

    private func difference() throws -> Difference {
        let difference = try Differ.patch(from: closed, to: state)
        let patch = difference.patch.encode()
        let bytesMax = surroundings.limits.patchBytesMax
        guard patch.count <= bytesMax else {
            throw Rejection(
                .tooLarge,
                "the change has \(patch.count) bytes, an update at most \(bytesMax): make it in several actions"
            )
        }
        var summary = summary
        summary.advance(by: difference)
        let stateBytesMax = surroundings.limits.snapshotBytesMax
        guard summary.bytes <= max(stateBytesMax, self.summary.bytes) else {
            throw Rejection(
                .tooLarge,
                "the state would have \(summary.bytes) bytes, more than the \(stateBytesMax) that a replica takes"
            )
        }
        return Difference(patch: patch, summary: summary)
    }

    /// The batch as a whole could not be encoded, or is too large for a frame: take its actions again, each for itself,
    /// and reject those that are the cause.
    ///
    /// What the first time made of them is forgotten, effects, what middlewares dispatched and what they decided included:
    /// it was decided on a state that is taken back. So a middleware may see an action a second time.
    private func closeOneByOne() {
        machine.reopenBatch()
        settled.removeAll(keepingCapacity: true)
        followUps.removeAll()
        cancelled.removeAll()
        takeBack()
        // Whoever asked to observe while the batch was open is let in behind all of it.
        let late = joining
        joining.removeAll()
        for (index, action) in batch.enumerated() {
            if action.local == nil { reductions?.begin(action.session, action.number) }
            let (passed, difference) = passAlone(action)
            reductions?.end()
            settle(action, passed)
            if index == batch.endIndex - 1 { joining = late }
            close(difference)
        }
    }

    private func passAlone(_ action: BatchedAction) -> (Result<Reduced, Rejection>, Difference) {
        let unchanged = Difference(patch: [], summary: summary)
        if let local = action.local, !local.isWanted || isBeingCancelled(local) {
            // The action before it cancels it this time.
            return (.failure(LocalAction.cancelled), unchanged)
        }
        let passed = pass(action)
        guard case .success = passed else { return (passed, unchanged) }
        do { return (passed, try difference()) } catch {
            takeBack()
            let rejection =
                error as? Rejection ?? Rejection(.unencodable, "the state cannot be published after it: \(error)")
            return (.failure(rejection), unchanged)
        }
    }

    private func takeBack() {
        state = closed
        held.take()?.drop()
    }
}
