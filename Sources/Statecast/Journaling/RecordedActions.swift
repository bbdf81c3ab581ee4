import StatecastCoding
import StatecastJournal
import StatecastProtocol

extension ActionTable {
    /// The most recent records that ``checkNames(in:_:retired:)`` reads, and the most bytes of them.
    private static let maxRecords = 1000
    private static let maxRecordBytes = 2 << 20

    /// Checks that this build registers the actions of senders that the journal's most recent records contain.
    ///
    /// Recovery applies patches and does not need actions. But if a type was renamed and its name with it, the primary
    /// would finally reject what senders still have in their outboxes and session files, and the journal could not be
    /// replayed.
    ///
    /// Ignores rejected actions, those of the primary's own session (effects need not be registered), and records that
    /// cannot be read: recovery reads those that it needs.
    ///
    /// - Parameter retired: names that this build no longer accepts on purpose.
    /// - Throws: ``JournalFailure`` with code `misfit`.
    func checkNames(
        in journal: any Journal,
        _ contents: JournalContents,
        retired: Set<String>
    ) throws(JournalFailure) {
        guard let oldest = try? journal.snapshots().first else { return }
        let last = contents.last.rawValue
        let first = max(oldest.sequence.rawValue, last - min(last, UInt64(Self.maxRecords)))
        let names = Set(entries.map(\.name)).union(retired)
        // Nearly all actions begin as the encoding does; only others are decoded.
        let prefixes = names.map { NamedEncoding.encode(name: $0) }
        var (sequence, bytes) = (JournalSequence(first), 0)
        while sequence < contents.last, bytes < Self.maxRecordBytes,
            let records = try? journal.records(after: sequence, maxBytes: Self.maxRecordBytes - bytes),
            let end = records.last
        {
            for record in records {
                bytes += record.body.count
                guard let batch = try? BatchRecord(decoding: record.body) else { continue }
                for run in batch.runs where run.session != .primary {
                    for entry in run.entries where entry.rejection == nil {
                        if prefixes.contains(where: { entry.action.starts(with: $0) }) { continue }
                        guard let name = ActionCoding.name(in: entry.action), !names.contains(name) else { continue }
                        throw unregistered(name)
                    }
                }
            }
            sequence = end.sequence
        }
    }

    private func unregistered(_ name: String) -> JournalFailure {
        let hint = name.nearest(among: entries.map(\.name)).map { " (did you mean \"\($0)\"?)" } ?? ""
        return JournalFailure(
            .misfit,
            "the journal has actions named \"\(name)\", and this build registers none\(hint). If their type was "
                + "renamed, keep the "
                + "name: declare `static let name = \"\(name)\"` in it. If it was removed, list the name in the "
                + "store's "
                + "StateEvolution(retiredActions:). The journal stays as it is"
        )
    }
}
