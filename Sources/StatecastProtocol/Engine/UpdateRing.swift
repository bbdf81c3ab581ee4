import DequeModule

/// The last updates of a store, for replicas that missed some. Bounded in count and bytes; always a gapless chain.
struct UpdateRing: Hashable, Sendable {
    private var updates: Deque<Update> = []
    /// For each update, the size of all patches before it since the store began.
    private var offsets: Deque<Int> = []
    private var end = 0

    var count: Int { updates.count }

    /// The revision at which the chain begins; `nil` while it is empty.
    var start: Revision? { updates.first?.from }

    mutating func append(_ update: Update, limits: Limits) {
        if let last = updates.last {
            precondition(last.to == update.from, "ring gap: ends at \(last.to), update from \(update.from)")
        }
        updates.append(update)
        offsets.append(end)
        end += update.patch.count
        while let first = offsets.first, updates.count > limits.maxRingUpdates || end - first > limits.maxRingBytes {
            updates.removeFirst()
            offsets.removeFirst()
        }
    }

    /// Publishes all updates in the name of an incarnation.
    mutating func rename(to epoch: Epoch) {
        for index in updates.indices { updates[index].epoch = epoch }
    }

    /// The updates that lead from `revision` to `head`; `nil` if some are no longer kept, or if no update begins at
    /// that revision.
    func updates(from revision: Revision, head: Revision) -> Deque<Update>.SubSequence? {
        index(of: revision, head: head).map { updates[$0...] }
    }

    /// The size of the patches between a revision and the head; `nil` if some are no longer kept.
    func patchBytes(from revision: Revision, head: Revision) -> Int? {
        index(of: revision, head: head).map { $0 < offsets.endIndex ? end - offsets[$0] : 0 }
    }

    /// The index of the update that begins at `revision`.
    private func index(of revision: Revision, head: Revision) -> Int? {
        if revision == head { return updates.endIndex }
        guard let start, revision >= start, revision < head else { return nil }
        let index = updates.partitioningIndex { $0.from >= revision }
        return index < updates.endIndex && updates[index].from == revision ? index : nil
    }
}
