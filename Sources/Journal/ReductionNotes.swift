public import SyncProtocol

/// Which action is being reduced, noted where it outlives the process: so that an action whose reduction ends the process
/// is found out, and does not do so for ever.
///
/// A note is a few stores to memory. Where that is a mapped page of a file, it survives whatever ends the process but not
/// the end of the system, and there is no need for it to.
///
/// Unchecked, but safe: only the primary's loop touches it, one primary at a time.
public final class ReductionNotes: @unchecked Sendable {
    /// How many suspects are remembered at most.
    public static let suspectsMax = 16
    /// What a page must have room for.
    public static let byteCount = 32 * (1 + suspectsMax)

    /// How often an action may end the process before it is rejected.
    public static let crashesMax: UInt64 = 2

    private struct Note {
        var high: UInt64
        var low: UInt64
        var number: UInt64
        /// For the action being reduced: 1 while it is. For a suspect: how often it ended the process.
        var count: UInt64

        static let none = Note(high: 0, low: 0, number: 0, count: 0)

        func names(_ other: Note) -> Bool { high == other.high && low == other.low && number == other.number }
    }

    private let notes: UnsafeMutablePointer<Note>
    private let isOwned: Bool
    /// How many suspects there are: asked for each action.
    private var suspectsCount = 0

    /// Notes that live as long as this object.
    public init() {
        notes = .allocate(capacity: 1 + Self.suspectsMax)
        notes.initialize(repeating: .none, count: 1 + Self.suspectsMax)
        isOwned = true
    }

    /// Notes in memory that somebody else keeps, aligned to 8 bytes; all zero where nothing was noted.
    ///
    /// - Parameter page: ``byteCount`` bytes that outlive this object.
    public init(page: UnsafeMutableRawPointer) {
        notes = page.bindMemory(to: Note.self, capacity: 1 + Self.suspectsMax)
        isOwned = false
    }

    deinit { if isOwned { notes.deallocate() } }

    /// An incarnation of the primary begins: if the last one ended while it reduced, that action is a suspect.
    public func open() {
        let last = notes[0]
        notes[0] = .none
        // Oldest first.
        var suspects = (1...Self.suspectsMax).map { notes[$0] }.filter { $0.count > 0 }
        if last.count > 0 {
            if let index = suspects.firstIndex(where: { $0.names(last) }) {
                suspects[index].count += 1
            } else {
                suspects.append(last)
            }
        }
        // There is always room for the latest.
        suspects = suspects.suffix(Self.suspectsMax)
        for index in 1...Self.suspectsMax { notes[index] = index > suspects.count ? .none : suspects[index - 1] }
        suspectsCount = suspects.count
    }

    /// An action is about to be decoded and reduced.
    public func begin(_ session: SessionID, _ number: ActionNumber) {
        notes[0] = Note(high: session.high, low: session.low, number: number.rawValue, count: 1)
    }

    /// Nothing is being reduced.
    public func end() { notes[0].count = 0 }

    /// Whether an action has ended the process so often that it is not to be reduced again.
    public func isPoison(_ session: SessionID, _ number: ActionNumber) -> Bool {
        suspect(session, number).map { notes[$0].count >= Self.crashesMax } ?? false
    }

    /// The outcome of an action is durable: it is no longer suspected.
    public func settled(_ session: SessionID, _ number: ActionNumber) {
        guard let index = suspect(session, number) else { return }
        notes[index] = .none
        suspectsCount -= 1
    }

    /// Whether anything is suspected: if not, there is no need to ask.
    public var hasSuspects: Bool { suspectsCount > 0 }

    private func suspect(_ session: SessionID, _ number: ActionNumber) -> Int? {
        let note = Note(high: session.high, low: session.low, number: number.rawValue, count: 0)
        return (1...Self.suspectsMax).first { notes[$0].count > 0 && notes[$0].names(note) }
    }
}
