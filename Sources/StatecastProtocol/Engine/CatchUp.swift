import DequeModule
import StatecastCoding

/// The updates that a joiner misses, in few messages.
struct CatchUp {
    let updates: [Update]
    /// The number of composed updates: the cost of the answer.
    let composed: Int

    /// Sends few updates unchanged, and composes many into updates that surely fit half a frame.
    init(_ missing: Deque<Update>.SubSequence, limits: Limits) {
        guard missing.count > limits.maxCatchUpUpdates else {
            updates = Array(missing)
            composed = 0
            return
        }
        var updates: [Update] = []
        var start = missing.startIndex
        var bytes = 0
        for index in missing.indices {
            bytes += Self.bytes(of: missing[index])
            let next = missing.index(after: index)
            if next == missing.endIndex || bytes + Self.bytes(of: missing[next]) > limits.maxFrameBytes / 2 {
                updates += Self.composed(missing[start..<next])
                (start, bytes) = (next, 0)
            }
        }
        self.updates = updates
        composed = missing.count
    }

    /// The size in a sequence: the patch, and the head of a pair.
    private static func bytes(of update: Update) -> Int { update.patch.count + 1 }

    /// Composes a part of the chain into one update; returns the part itself if the composed patch is nested too
    /// deeply for a replica.
    private static func composed(_ part: Deque<Update>.SubSequence) -> [Update] {
        guard part.count > 1, let first = part.first, let last = part.last,
            let patch = Patch.sequence(encoded: part.map(\.patch))
        else { return Array(part) }
        return [Update(lineage: last.lineage, epoch: last.epoch, from: first.from, to: last.to, patch: patch)]
    }
}
