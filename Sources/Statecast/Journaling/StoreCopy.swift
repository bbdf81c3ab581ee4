import StatecastCoding
import StatecastJournal
import StatecastProtocol

/// A store's state and history at a record of its journal, from where it advances record by record.
struct StoreCopy<State: Codable & Equatable & Sendable> {
    private(set) var history: History
    /// The revision of the snapshot at which it began.
    let start: Revision
    private(set) var content: Content
    /// Counts the records after the snapshot.
    private(set) var snapshots: SnapshotSchedule
    private let limits: Limits

    /// The state, in this build's type or in its recorded shape.
    enum Content {
        case typed(StateContent<State>)
        case tree(TreeContent)
    }

    /// The bytes of records that are read at once.
    private static var bytesAtOnce: Int { 8 << 20 }

    /// Begins at a snapshot.
    ///
    /// - Throws: `OtherShape` if the state is not of this build's type, and `isTyped`.
    init(of snapshot: JournalSnapshot, _ contents: JournalContents, isTyped: Bool, limits: Limits) throws {
        let context = try SnapshotContext(decoding: snapshot.context)
        history = History(
            lineage: contents.identity.lineage,
            epoch: context.epoch,
            epochs: [],
            from: context,
            at: snapshot.entry.sequence,
            snapshot.entry.revision
        )
        start = snapshot.entry.revision
        content = isTyped ? .typed(try StateContent(snapshot.state)) : .tree(try TreeContent(snapshot.state))
        snapshots = SnapshotSchedule(after: snapshot.entry.sequence)
        self.limits = limits
    }

    /// Replays the records up to `last`, as far as the journal has them.
    ///
    /// - Parameter onProgress: called with the record that is reached, at the start and after each part.
    /// - Throws: `OtherShape`; ``JournalFailure``; `CodingFailure`. The copy is not usable then.
    mutating func advance(
        _ journal: some JournalReading,
        through last: JournalSequence,
        _ onProgress: (JournalSequence) -> Void = { _ in }
    ) throws {
        while history.sequence < last {
            onProgress(history.sequence)
            let records = try journal.records(after: history.sequence, maxBytes: Self.bytesAtOnce)
            guard !records.isEmpty else { break }
            var composer = PatchComposer()
            for record in records.prefix(while: { $0.sequence <= last }) {
                let batch = try BatchRecord(decoding: record.body)
                snapshots.count(record.body.count)
                try history.replay(batch, at: record.sequence, limits: limits)
                if batch.to > batch.from { composer.append(try Patch(decoding: batch.patch)) }
            }
            let patch = composer.finish()
            switch content {
            case .typed(var typed):
                // Released, so that the state is changed in place.
                content = .tree(.empty)
                try typed.apply(patch)
                content = .typed(typed)
            case .tree(var tree):
                content = .tree(.empty)
                try tree.apply(patch)
                content = .tree(tree)
            }
        }
        onProgress(history.sequence)
    }

    /// Checks that the copy holds all records and the recorded state.
    ///
    /// - Throws: `OtherShape`; ``JournalFailure`` with code `damaged`.
    func check(_ last: JournalSequence) throws {
        guard history.sequence == last else {
            throw JournalFailure(
                .damaged,
                "the journal's records lead to record \(history.sequence), and record \(last) is the last one: "
                    + "restore a backup"
            )
        }
        let digest: UInt64
        switch content {
        case .typed(let typed):
            digest = try typed.digest()
            guard digest == history.summary.digest else { throw OtherShape() }
        case .tree(let tree): digest = tree.digest()
        }
        guard digest == history.summary.digest else {
            throw JournalFailure(
                .damaged,
                "the journal leads to a state at revision \(history.head) whose digest is \(digest), and "
                    + "\(history.summary.digest) was recorded: restore a backup"
            )
        }
    }
}

/// The recorded state does not have the shape of this build's type.
struct OtherShape: Error {}

/// A state in this build's type.
struct StateContent<State: Codable> {
    private(set) var state: State

    init(_ bytes: [UInt8]) throws(OtherShape) {
        do { state = try StateDecoder().decode(State.self, from: bytes) } catch { throw OtherShape() }
    }

    mutating func apply(_ patch: Patch) throws(OtherShape) {
        do { try patch.apply(to: &state) } catch { throw OtherShape() }
    }
    func digest() throws(OtherShape) -> UInt64 {
        do { return try Summary(ofEncoded: StateEncoder().encode(state)).digest } catch { throw OtherShape() }
    }
}

/// A state in its recorded shape.
struct TreeContent {
    private(set) var tree: Value

    init(_ bytes: [UInt8]) throws { tree = try Value(decoding: bytes) }
    private init(_ tree: Value) { self.tree = tree }

    /// In place of a state that is being changed.
    static var empty: TreeContent { TreeContent(.null) }

    mutating func apply(_ patch: Patch) throws { try patch.apply(to: &tree) }
    func digest() -> UInt64 { Summary(of: tree).digest }
}
