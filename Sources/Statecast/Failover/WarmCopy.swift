import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastThreading

/// A standby's copy of a store: the state and the history, up to the last settled record.
///
/// A record that is not settled may be on one server of the database only, and be lost with it.
///
/// Unchecked, but safe: its functions are called one at a time, except for ``close()``, which changes the journal only.
final class WarmCopy<State: Codable & Equatable & Sendable>: StandbyStore, @unchecked Sendable {
    private let definition: TypedStore<State>
    private let journal: SharedJournal
    private let limits: Limits
    private var contents: JournalContents?
    /// `nil` before the first snapshot was read, and for a store without content.
    private var copy: StoreCopy<State>?
    /// Whether the recorded state fits this build's type, if nothing else is known.
    private var isTyped = true

    init(_ definition: TypedStore<State>, _ journal: SharedJournal, limits: Limits) {
        (self.definition, self.journal, self.limits) = (definition, journal, limits)
    }

    var name: StoreName { definition.name }
    var database: any SharedDatabase { journal.database }
    var head: JournalSequence { copy?.history.sequence ?? JournalSequence(0) }
    var epoch: Epoch { contents?.epochs.last?.epoch ?? Epoch(0) }

    func close() { journal.close() }

    // MARK: Following

    func follow(_ row: LeaderRow) throws(JournalFailure) -> LeaderMachine.Copy {
        if contents == nil { try journal.reportCrashes() }
        // Until the leader has noted the start of its epoch, and with it the version of its state.
        if contents == nil || contents?.epochs.last.map(\.epoch) ?? Epoch(0) != row.term {
            guard let read = try database.contents(of: name, by: nil)?.contents else { return .incomplete }
            // An operator has accepted a loss: the records are others.
            if read.identity.lineage != contents?.identity.lineage { copy = nil }
            contents = read
        }
        guard let contents else { return .incomplete }
        if let last = contents.epochs.last, last.stateVersion > definition.stateVersion { return .outdated }
        do {
            if copy == nil {
                guard let entry = try journal.snapshots().last else { return .complete }
                let snapshot = try journal.snapshot(entry)
                copy = try StoreCopy(of: snapshot, contents, isTyped: isTyped, limits: limits)
            }
            try copy?.advance(journal, through: row.settled)
            return .complete
        } catch {
            // It begins again at the newest snapshot: as an untyped value, or because records were pruned.
            copy = nil
            if error is OtherShape {
                isTyped = false
            } else if let failure = error as? JournalFailure {
                if failure.code != .pruned { throw failure }
            } else {
                throw JournalFailure(
                    .damaged,
                    "the store \"\(name)\" holds something that cannot be read: \(error). Restore a backup"
                )
            }
            return .incomplete
        }
    }

    // MARK: Takeover

    func recover(_ fence: Fence, isSynchronous: Bool, time: Timestamp) throws(StatecastError) -> any StartableStore {
        journal.claimed(fence, isSynchronous: isSynchronous)
        do throws(JournalFailure) { try journal.readCrashes() } catch {
            throw StatecastError(.journal, "\(error)", cause: error)
        }
        let recovery = StoreRecovery(definition, limits: limits, time: time, lineage: Lineage(bits: 0))
        defer { copy = nil }
        do throws(StatecastError) {
            return try recovery.run(journal) { [copy] contents in
                try copy.flatMap { try $0.isPrefix(of: contents, journal) }
            }
        } catch {
            // What was read in part before another node has claimed the store, and in part after it, looks damaged.
            guard let isInEffect = try? database.contents(of: name, by: fence) != nil, !isInEffect else { throw error }
            let fenced = JournalFailure(.fenced, "another node has claimed the store \"\(name)\" during the recovery")
            throw StatecastError(.journal, "\(fenced)", cause: fenced)
        }
    }
}

extension StoreCopy {
    /// Checks that a journal goes on where the copy ends.
    ///
    /// - Returns: the copy; `nil` if the journal cannot show it, since it has another history or was pruned.
    /// - Throws: ``JournalFailure`` with code `behind` if records of the copy are missing.
    fileprivate func isPrefix(of contents: JournalContents, _ journal: SharedJournal) throws -> StoreCopy? {
        guard contents.identity.lineage == history.lineage else { return nil }
        let behind = JournalFailure(
            .behind,
            "the database \(journal) lacks records of the store \"\(contents.identity.store)\" that were durable: this "
                + "node has read record \(history.sequence), and the last one there is \(contents.last). If that is "
                + "accepted, begin a new lineage with statecast-journal accept-loss --force URI STORE"
        )
        guard contents.last >= history.sequence else { throw behind }
        // Without records after its snapshot, the copy is as soon read again as compared.
        guard snapshots.records > 0 else { return nil }
        let record: JournalRecord?
        do throws(JournalFailure) {
            record = try journal.records(after: history.sequence.previous, maxBytes: 1).first
        } catch {
            guard error.code == .pruned else { throw error }
            return nil
        }
        guard let record, record.sequence == history.sequence else { return nil }
        let batch = try BatchRecord(reading: record)
        guard batch.to == history.head, batch.summary == history.summary else { throw behind }
        return self
    }
}
