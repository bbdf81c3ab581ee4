public import StatecastProtocol

/// Marks the action that is being reduced, so that an action whose reduction ends the process is detected and rejected.
///
/// A mark costs a few stores to memory. In a mapped page of a file, it survives the end of the process, but not of the
/// system.
///
/// Unchecked, but safe: only the loop of one primary at a time uses it.
public final class CrashMarker: @unchecked Sendable {
    /// The most suspects that are remembered.
    public static let maxSuspects = 16
    /// The size of the marker in memory.
    public static let byteCount = 32 * (1 + maxSuspects)

    /// The number of crashes after which an action is rejected.
    public static let maxCrashes: UInt64 = 2

    private struct Note {
        var high: UInt64
        var low: UInt64
        var number: UInt64
        /// 1 while the action is being reduced; for a suspect, the number of its crashes.
        var count: UInt64

        static let none = Note(high: 0, low: 0, number: 0, count: 0)

        func names(_ other: Note) -> Bool { high == other.high && low == other.low && number == other.number }
    }

    /// The action being reduced, followed by the suspects.
    private let notes: UnsafeMutablePointer<Note>
    private let isOwned: Bool
    /// What the nodes that share a journal have seen together, instead of what this marker has seen.
    package var shared: [Crashes]?

    /// Creates a marker that exists as long as this object.
    public init() {
        notes = .allocate(capacity: 1 + Self.maxSuspects)
        notes.initialize(repeating: .none, count: 1 + Self.maxSuspects)
        isOwned = true
    }

    /// Uses a marker in memory that outlives this object.
    ///
    /// - Parameter page: ``byteCount`` bytes, aligned to 8 bytes; zeros for an empty marker.
    public init(page: UnsafeMutableRawPointer) {
        notes = page.bindMemory(to: Note.self, capacity: 1 + Self.maxSuspects)
        isOwned = false
    }

    deinit { if isOwned { notes.deallocate() } }

    /// Begins an incarnation of the primary. An action that the last incarnation was reducing when it ended becomes a
    /// suspect.
    public func open() {
        let last = notes[0]
        notes[0] = .none
        // Oldest first.
        var suspects = (1...Self.maxSuspects).map { notes[$0] }.filter { $0.count > 0 }
        if last.count > 0 {
            if let index = suspects.firstIndex(where: { $0.names(last) }) {
                suspects[index].count += 1
            } else {
                suspects.append(last)
            }
        }
        setSuspects(suspects)
    }

    /// Keeps the newest ones.
    private func setSuspects(_ all: [Note]) {
        let suspects = all.suffix(Self.maxSuspects)
        for (index, note) in suspects.enumerated() { notes[1 + index] = note }
        for index in suspects.count..<Self.maxSuspects { notes[1 + index] = .none }
    }

    /// Marks an action that is about to be decoded and reduced.
    public func begin(_ session: SessionID, _ number: ActionNumber) {
        notes[0] = Note(high: session.high, low: session.low, number: number.rawValue, count: 1)
    }

    /// Removes the mark.
    public func end() { notes[0].count = 0 }

    /// How often a process has ended while it reduced an action.
    package struct Crashes: Hashable, Sendable {
        package let session: SessionID
        package let number: ActionNumber
        package let count: UInt64

        package init(session: SessionID, number: ActionNumber, count: UInt64) {
            (self.session, self.number, self.count) = (session, number, count)
        }
    }

    /// What this marker has seen of each suspect, oldest first.
    package var crashes: [Crashes] {
        (1...Self.maxSuspects).map { notes[$0] }.filter { $0.count > 0 }.map { note in
            let session = SessionID(high: note.high, low: note.low)
            return Crashes(session: session, number: ActionNumber(note.number), count: note.count)
        }
    }

    /// The actions that may have ended the process, oldest first.
    package var suspects: [Suspect] {
        (shared ?? crashes).map {
            Suspect(session: $0.session, number: $0.number, isPoison: $0.count >= Self.maxCrashes)
        }
    }

    /// Removes all suspects: they have been reported to the other nodes.
    package func removeSuspects() { setSuspects([]) }

    /// Clears an action whose outcome is durable.
    public func resolve(_ session: SessionID, _ number: ActionNumber) {
        let resolved = Note(high: session.high, low: session.low, number: number.rawValue, count: 0)
        for index in 1...Self.maxSuspects where notes[index].names(resolved) { notes[index] = .none }
        shared?.removeAll { ($0.session, $0.number) == (session, number) }
    }
}
