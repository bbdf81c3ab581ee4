import DequeModule
import StateCoding

/// The updates that a joiner misses, as few messages as is sensible.
struct CatchUp {
    let updates: [Update]
    /// How many updates had to be composed: what the answer cost.
    let composed: Int

    /// Few updates go as they are, many are composed into one.
    init(_ missing: Deque<Update>.SubSequence, limits: Limits) {
        guard missing.count > limits.catchUpUpdatesMax, let first = missing.first, let last = missing.last else {
            updates = Array(missing)
            composed = 0
            return
        }
        let patches = missing.map { update -> Patch in
            do { return try Patch(decoding: update.patch) } catch {
                preconditionFailure("a patch of our own does not decode: \(error)")
            }
        }
        let patch = Self.fold(patches[...]).encode()
        composed = missing.count
        guard patch.count <= limits.frameBytesMax / 2, (try? Patch(decoding: patch)) != nil else {
            // Too large for a frame, or nested deeper than a replica reads.
            updates = Array(missing)
            return
        }
        updates = [Update(lineage: last.lineage, epoch: last.epoch, from: first.from, to: last.to, patch: patch)]
    }

    /// Composes neighbours first, so that no side grows much larger than the other.
    private static func fold(_ patches: ArraySlice<Patch>) -> Patch {
        guard patches.count > 2 else { return patches.dropFirst().reduce(patches[patches.startIndex]) { $0.composed(with: $1) } }
        let middle = patches.startIndex + patches.count / 2
        return fold(patches[..<middle]).composed(with: fold(patches[middle...]))
    }
}
