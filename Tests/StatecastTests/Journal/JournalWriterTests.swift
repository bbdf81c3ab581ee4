import Journal
import SyncProtocol
import Testing

@testable import Statecast

@Suite(.timeLimit(.minutes(10))) struct `The writer of a journal` {
    private static let replaced = JournalFailure(.removed, "the journal was replaced")

    private let memory = MemoryJournal()
    private let journal: FaultyJournal
    private let writer: JournalWriter

    init() throws {
        journal = FaultyJournal(memory)
        let metrics = JournalMetrics(store: try StoreName("bench"))
        writer = JournalWriter(
            journal,
            metrics: metrics,
            retryDelay: .seconds(60),
            in: ThreadedEnvironment(clock: NodeClock())
        ) { _ in }
    }

    private func append(_ sequence: UInt64) {
        let (from, to) = (Revision(sequence - 1), Revision(sequence))
        writer.append(JournalRecord(sequence: JournalSequence(sequence), from: from, to: to, body: [1]))
    }

    /// The last result: the message of a failure, or the last record.
    private var result: String? {
        writer.drain().last.map {
            switch $0 {
            case .success(let sequence): "\(sequence)"
            case .failure(let failure): failure.message
            }
        }
    }

    private func stored() throws -> [JournalSequence] {
        try memory.records(after: JournalSequence(0), bytesMax: .max).map(\.sequence)
    }

    @Test func `accepts records again after a full disk, once the store has rolled back`() throws {
        journal.fail(FaultyJournal.full, count: 1)
        append(1)
        #expect(result == FaultyJournal.full.message)
        append(1)
        #expect(result == FaultyJournal.full.message, "the store has not rolled back")
        writer.resume()
        append(1)
        #expect(result == "1")
        #expect(try stored() == [JournalSequence(1)])
    }

    @Test(arguments: [false, true])
    func `accepts none after another failure, even if the disk was full before or after it`(isFullFirst: Bool) throws {
        append(1)
        #expect(result == "1")
        journal.fail(FaultyJournal.full, count: 1)
        journal.hold(!isFullFirst)
        append(2)
        if isFullFirst {
            #expect(result == FaultyJournal.full.message)
            writer.resume()
        }
        journal.move(Self.replaced)
        #expect(throws: JournalFailure.self) { try writer.checkPlace() }
        journal.move(nil)
        journal.hold(false)
        #expect(result == Self.replaced.message)
        // The store rolls back because the disk was full.
        writer.resume()
        append(2)
        #expect(result == Self.replaced.message)
        let failure = #expect(throws: JournalFailure.self) { try writer.checkPublishing() }
        #expect(failure?.message == Self.replaced.message)
        #expect(try stored() == [JournalSequence(1)])
    }
}
