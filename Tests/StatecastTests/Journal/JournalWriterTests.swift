import Foundation
import StatecastJournal
import StatecastProtocol
import Testing

@testable import Statecast

@Suite(.timeLimit(.minutes(10))) struct `The writer of a journal` {
    private static let replaced = JournalFailure(.removed, "the journal was replaced")

    private let memory = MemoryJournal()
    private let journal: FaultyJournal
    private let writer: JournalWriter

    init() throws {
        journal = FaultyJournal(memory)
        writer = try Self.writer(journal) { _ in }
    }

    private static func writer(
        _ journal: FaultyJournal,
        onResult: @escaping @Sendable (Result<JournalSequence, JournalFailure>) -> Void
    ) throws -> JournalWriter {
        JournalWriter(
            journal,
            metrics: JournalMetrics(store: try StoreName("bench")),
            in: ThreadedEnvironment(clock: NodeClock()),
            onResult: onResult
        )
    }

    private static func record(_ sequence: UInt64) -> JournalRecord {
        let (from, to) = (Revision(sequence - 1), Revision(sequence))
        return JournalRecord(sequence: JournalSequence(sequence), from: from, to: to, body: [1])
    }

    private func append(_ sequence: UInt64) { writer.append(Self.record(sequence)) }

    private func stored() throws -> [JournalSequence] {
        try memory.records(after: JournalSequence(0), maxBytes: .max).map(\.sequence)
    }

    @Test func `The writer of a journal reports its results before a drain ends`() async throws {
        let (reports, reporting) = AsyncStream.makeStream(of: Void.self)
        let reported = EventLog()
        let writer = try Self.writer(journal) { _ in
            reporting.yield()
            // Time for a drain that does not wait.
            for _ in 0..<1000 { sched_yield() }
            reported.add("reported")
        }
        writer.append(Self.record(1))
        for await _ in reports { break }
        writer.drain()
        #expect(reported.events == ["reported"])
    }

    @Test
    func `The writer of a journal accepts records again after a full disk, once the store has rolled back`() throws {
        journal.fail(FaultyJournal.full, count: 1)
        append(1)
        #expect(writer.drain()?.message == FaultyJournal.full.message)
        append(1)
        #expect(writer.drain()?.message == FaultyJournal.full.message, "the store has not rolled back")
        writer.resume()
        append(1)
        #expect(writer.drain() == nil)
        #expect(try stored() == [JournalSequence(1)])
    }

    @Test(arguments: [false, true])
    func `A journal's writer accepts no record after a failure, even if the disk was full, too`(
        isFullFirst: Bool
    ) throws {
        append(1)
        #expect(writer.drain() == nil)
        journal.fail(FaultyJournal.full, count: 1)
        journal.hold(!isFullFirst)
        append(2)
        if isFullFirst {
            #expect(writer.drain()?.message == FaultyJournal.full.message)
            writer.resume()
        }
        journal.move(Self.replaced)
        #expect(throws: JournalFailure.self) { try writer.checkPlace() }
        journal.move(nil)
        journal.hold(false)
        #expect(writer.drain()?.message == Self.replaced.message)
        // The store rolls back because the disk was full.
        writer.resume()
        append(2)
        #expect(writer.drain()?.message == Self.replaced.message)
        #expect(try stored() == [JournalSequence(1)])
    }
}
