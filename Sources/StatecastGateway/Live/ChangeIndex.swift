import StatecastCoding
import StatecastProtocol
import StatecastThreading

/// When the places of a state were last changed, and by which action, as seen since the gateway runs.
///
/// It has two generations of at most ``maxEntries`` places: when the younger one is full, it replaces the older one. So
/// the memory is bounded, and a place without an entry was last changed at or before ``completeAfter``.
final class ChangeIndex: Sendable {
    struct Change {
        let revision: Revision
        /// `nil` if it is not known, or several actions share the batch.
        let action: String?
    }

    private struct Storage {
        var older: [Int: Change] = [:]
        var younger: [Int: Change] = [:]
        var olderBegan: Revision
        var youngerBegan: Revision
        /// Their changes share the memory of a name.
        var names: Set<String> = []
    }

    static let maxEntries = 200_000
    /// Further names are not kept.
    private static let maxNames = 1000

    private let storage: Locked<Storage>

    /// - Parameter revision: all changes after it are recorded.
    init(from revision: Revision) {
        storage = Locked(Storage(olderBegan: revision, youngerBegan: revision))
    }

    /// The index has all changes after this revision.
    var completeAfter: Revision { storage.withLock { $0.olderBegan } }

    /// A place that has another value.
    struct Place {
        let path: [String]
        /// Whether the places below it have other values, too.
        var hasParts = false
    }

    func record(_ places: some Sequence<Place>, at revision: Revision, by action: String?) {
        storage.withLock { storage in
            let isKnown = storage.names.count < Self.maxNames || action.map(storage.names.contains) ?? false
            let name = isKnown ? action.map { storage.names.insert($0).memberAfterInsert } : nil
            let change = Change(revision: revision, action: name)
            for place in places {
                // A change of a place is one of all that contain it.
                for count in 1...max(1, place.path.count) {
                    storage.younger[place.path.prefix(count).hashValue] = change
                }
                if place.hasParts { storage.younger[Self.hashOfParts(place.path[...])] = change }
            }
            guard storage.younger.count > Self.maxEntries else { return }
            (storage.older, storage.younger) = (storage.younger, [:])
            (storage.olderBegan, storage.youngerBegan) = (storage.youngerBegan, revision)
        }
    }

    /// Under which the change of all places below a path is kept.
    private static func hashOfParts(_ path: ArraySlice<String>) -> Int {
        var hasher = Hasher()
        hasher.combine(path)
        hasher.combine(true)
        return hasher.finalize()
    }

    /// Forgets all changes. Used when more places change at once than are recorded, and when the records before a
    /// revision were not read.
    func restart(from revision: Revision) {
        storage.withLock { storage in
            (storage.older, storage.younger) = ([:], [:])
            (storage.olderBegan, storage.youngerBegan) = (revision, revision)
        }
    }

    /// The last change of a place, below it, or of a larger part with it.
    func last(at path: [String]) -> Change? {
        let above = path.indices.map { Self.hashOfParts(path[..<$0]) }
        return storage.withLock { storage in
            let changes = ([path.prefix(path.count).hashValue] + above).compactMap { hash in
                storage.younger[hash] ?? storage.older[hash]
            }
            return changes.max { $0.revision < $1.revision }
        }
    }
}
