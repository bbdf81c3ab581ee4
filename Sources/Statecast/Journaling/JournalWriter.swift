internal import Dispatch
internal import Journal
internal import Locking

/// Between a store's loop, which must not wait, and its journal, which does nothing else.
///
/// While one commit runs, the records that come meanwhile gather; the next commit takes them all.
final class JournalWriter: Sendable {
    private struct Line {
        var records: [JournalRecord] = []
        var bytes = 0
        var isCommitting = false
        /// The last record that was appended.
        var last: JournalSequence?
        /// After a failure nothing is taken until the store has gone back to what is durable.
        var failure: JournalFailure?
    }

    private let journal: any Journal
    private let line = Locked(Line())
    private let commits = DispatchQueue(label: "statecast.journal.commit", qos: .userInitiated)
    private let snapshots = DispatchQueue(label: "statecast.journal.snapshot", qos: .utility)
    private let settled: @Sendable (Result<JournalSequence, JournalFailure>) -> Void

    /// - Parameter settled: is told, on a thread of the journal, that the records up to one are durable, or that all that
    ///   were handed in since are not and never will be.
    init(_ journal: any Journal, settled: @escaping @Sendable (Result<JournalSequence, JournalFailure>) -> Void) {
        self.journal = journal
        self.settled = settled
    }

    var durability: Durability { journal.durability }

    /// The bytes of records that are not durable yet.
    var bytes: Int { line.withLock { $0.bytes } }

    /// Hands in a record; in order.
    func append(_ record: JournalRecord) {
        let isFirst = line.withLock { line in
            guard line.failure == nil else { return false }
            line.records.append(record)
            line.bytes += record.body.count
            defer { line.isCommitting = true }
            return !line.isCommitting
        }
        if isFirst { commits.async { [self] in commitAll() } }
    }

    /// The store has gone back to what is durable: records are taken again.
    func mend() { line.withLock { $0.failure = nil } }

    /// Waits until all that was handed in is settled.
    ///
    /// - Returns: what became of it.
    @discardableResult
    func drain() -> [Result<JournalSequence, JournalFailure>] {
        commits.sync {}
        let (last, failure) = line.withLock { ($0.last, $0.failure) }
        return [last.map { .success($0) }, failure.map { .failure($0) }].compactMap(\.self)
    }

    /// Does something with the journal that may take long, when all that was handed in until now is settled. One such
    /// thing at a time.
    func later(_ work: @escaping @Sendable (any Journal) -> Void) {
        snapshots.async { [self] in
            drain()
            work(journal)
        }
    }

    /// Reads from the journal; what was settled until now is there.
    func read(_ work: @escaping @Sendable (any Journal) -> Void) { snapshots.async { [self] in work(journal) } }

    /// Waits for all that is under way, and lets go of the journal.
    func close() {
        drain()
        snapshots.sync {}
        journal.close()
    }

    private func commitAll() {
        while let records = next() {
            do throws(JournalFailure) {
                try journal.append(records)
                let bytes = records.reduce(0) { $0 + $1.body.count }
                let last = records[records.count - 1].sequence
                line.withLock { line in
                    line.bytes -= bytes
                    line.last = last
                }
                settled(.success(last))
            } catch {
                line.withLock { $0 = Line(last: $0.last, failure: error) }
                settled(.failure(error))
                return
            }
        }
    }

    private func next() -> [JournalRecord]? {
        line.withLock { line in
            guard !line.records.isEmpty else {
                line.isCommitting = false
                return nil
            }
            defer { line.records = [] }
            return line.records
        }
    }
}
