internal import Journal
internal import Logging
internal import SyncProtocol

/// What replicas missed that had been away for long: read from the journal, off the loop.
extension StoreHost {
    func readPast(after start: Revision, through end: Revision, bytesMax: Int) {
        guard let journal else { return pastRead(nil, after: start) }
        let (lineage, epoch, limits) = (machine.lineage, machine.epoch, surroundings.limits)
        journal.read { [name, logger, onLoop = surroundings.onLoop] journal in
            var updates: [Update]?
            do {
                let bounds = PastBounds(
                    patchBytes: bytesMax,
                    recordBytes: max(bytesMax, PastBounds.recordBytesMin),
                    updates: limits.catchUpComposedMax
                )
                let read = try journal.updates(after: start, through: end, bounds, lineage, epoch)
                // A migration may have no room in a frame.
                updates = read?.allSatisfy { $0.patch.count <= limits.patchBytesMax } == true ? read : nil
            } catch {
                // Whoever waits gets a snapshot.
                logger.warning("cannot read the journal for replicas: \(error)", metadata: ["store": "\(name)"])
            }
            onLoop(name) { [updates] in $0.pastRead(updates, after: start) }
        }
    }

    func pastRead(_ updates: [Update]?, after revision: Revision) { machine.pastRead(updates, after: revision) }
}

/// Beyond which a snapshot is the shorter way.
private struct PastBounds {
    let patchBytes: Int
    /// Records hold actions, too: these are read in vain.
    let recordBytes: Int
    let updates: Int

    /// However small the state is, so much is read.
    static let recordBytesMin = 16 << 20
}

extension Journal {
    /// The updates from one revision to another, in the name of an incarnation; `nil` if they are more than are wanted, or if
    /// none begins or ends there.
    fileprivate func updates(
        after start: Revision,
        through end: Revision,
        _ bounds: PastBounds,
        _ lineage: Lineage,
        _ epoch: Epoch
    ) throws -> [Update]? {
        guard var last = try sequence(at: start) else { return nil }
        var updates: [Update] = []
        var (patchBytes, recordBytes) = (0, 0)
        while true {
            let records = try records(after: last, bytesMax: 1 << 20)
            guard let read = records.last else { return nil }
            last = read.sequence
            recordBytes += records.reduce(0) { $0 + $1.body.count }
            guard recordBytes <= bounds.recordBytes else { return nil }
            for record in records where record.to > record.from {
                guard record.from == updates.last?.to ?? start, record.to <= end else { return nil }
                let patch = try BatchRecord(decoding: record.body).patch
                patchBytes += patch.count
                guard patchBytes <= bounds.patchBytes, updates.count < bounds.updates else { return nil }
                updates.append(Update(lineage: lineage, epoch: epoch, from: record.from, to: record.to, patch: patch))
                if record.to == end { return updates }
            }
        }
    }
}
