import DequeModule
import StateCoding

/// The last updates of a store, for replicas that missed some. Bounded in count and bytes; always a gapless chain.
struct UpdateRing: Hashable, Sendable {
    private var updates: Deque<Update> = []
    /// For each update, the size of all patches before it since the store began.
    private var offsets: Deque<Int> = []
    private var end = 0

    /// The revision at which the chain begins; `nil` while it is empty.
    var start: Revision? { updates.first?.from }

    mutating func append(_ update: Update, limits: Limits) {
        if let last = updates.last {
            precondition(last.to == update.from, "ring gap: ends at \(last.to), update from \(update.from)")
        }
        updates.append(update)
        offsets.append(end)
        end += update.patch.count
        while let first = offsets.first, updates.count > limits.ringUpdatesMax || end - first > limits.ringBytesMax {
            updates.removeFirst()
            offsets.removeFirst()
        }
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

/// The updates that a joiner misses, in few messages.
struct CatchUp {
    let updates: [Update]
    /// The number of composed updates: the cost of the answer.
    let composed: Int

    /// Sends few updates unchanged, and composes many into updates that surely fit half a frame.
    init(_ missing: Deque<Update>.SubSequence, limits: Limits) {
        guard missing.count > limits.catchUpUpdatesMax else {
            updates = Array(missing)
            composed = 0
            return
        }
        var updates: [Update] = []
        var start = missing.startIndex
        var bytes = 0
        for index in missing.indices {
            bytes += missing[index].patch.count
            let next = missing.index(after: index)
            if next == missing.endIndex || bytes + missing[next].patch.count > limits.frameBytesMax / 2 {
                updates += Self.composed(missing[start..<next])
                (start, bytes) = (next, 0)
            }
        }
        self.updates = updates
        composed = missing.count
    }

    /// Composes a part of the chain into one update; returns the part itself if the composed patch is nested too
    /// deeply for a replica.
    private static func composed(_ part: Deque<Update>.SubSequence) -> [Update] {
        guard part.count > 1, let first = part.first, let last = part.last else { return Array(part) }
        var composer = PatchComposer()
        for update in part {
            do { composer.append(try Patch(decoding: update.patch)) } catch {
                preconditionFailure("a patch of our own does not decode: \(error)")
            }
        }
        let patch = composer.finish().encode()
        guard (try? Patch(decoding: patch)) != nil else { return Array(part) }
        return [Update(lineage: last.lineage, epoch: last.epoch, from: first.from, to: last.to, patch: patch)]
    }
}
