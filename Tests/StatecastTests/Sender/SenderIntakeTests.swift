import SyncProtocol
import Testing

@testable import Statecast

/// The order in which submissions are taken when there is no room for all.
@Suite(.timeLimit(.minutes(10))) struct `A sender's intake` {
    private let submission = SenderIntake.Submission(bytes: [1])

    private func take(_ intake: SenderIntake) async throws -> PendingReceipt {
        try await intake.take(submission, until: nil)
    }

    /// Begins to wait for room, and returns once that is so.
    private func waiter(_ intake: SenderIntake) async -> Task<PendingReceipt, any Error> {
        let count = intake.waitingCount
        let task = Task { try await take(intake) }
        while intake.waitingCount == count { await Task.yield() }
        return task
    }

    @Test func `lets in those who wait in the order in which they came, and before those who come later`() async throws
    {
        let intake = SenderIntake(pendingMax: 2)
        let first = [try await take(intake), try await take(intake)]
        var waiting: [Task<PendingReceipt, any Error>] = []
        for _ in 0..<3 { waiting.append(await waiter(intake)) }
        intake.settled(first[0])
        #expect(intake.waitingCount == 2)
        let late = Task { try await take(intake) }
        intake.settled(first[1])
        #expect(try await waiting[0].value.ticket == Ticket(rawValue: 3))
        #expect(try await waiting[1].value.ticket == Ticket(rawValue: 4))
        intake.settled(try await waiting[0].value)
        intake.settled(try await waiting[1].value)
        #expect(try await waiting[2].value.ticket == Ticket(rawValue: 5))
        #expect(try await late.value.ticket == Ticket(rawValue: 6))
        #expect(intake.drain().map(\.ticket.rawValue) == Array(1...6))
    }

    @Test func `is not overtaken by one that comes again and again`() async throws {
        let intake = SenderIntake(pendingMax: 1)
        var held = try await take(intake)
        let waiting = await waiter(intake)
        intake.settled(held)
        // It has room before it runs.
        #expect(intake.waitingCount == 0)
        let greedy = Task { try await take(intake) }
        held = try await waiting.value
        #expect(held.ticket == Ticket(rawValue: 2))
        intake.settled(held)
        #expect(try await greedy.value.ticket == Ticket(rawValue: 3))
    }

    @Test func `gives room that one gives up to the next`() async throws {
        let intake = SenderIntake(pendingMax: 1)
        let first = try await take(intake)
        let (leaving, staying) = (await waiter(intake), await waiter(intake))
        leaving.cancel()
        await #expect(throws: SenderIntake.Refusal.cancelled) { try await leaving.value }
        intake.settled(first)
        #expect(try await staying.value.ticket == Ticket(rawValue: 2))
    }

    @Test func `takes what cannot wait at once, and none of the room of the others for it`() async throws {
        let intake = SenderIntake(pendingMax: 1)
        for _ in 0..<100 { try intake.takeAtOnce([1]) }
        let first = try await take(intake)
        let waiting = await waiter(intake)
        let taken = intake.drain()
        #expect(taken.count == 101)
        // The outcome of a dispatched action makes no room for an awaited one.
        for action in taken where !action.receipt.isAwaited { intake.settled(action.receipt) }
        #expect(intake.waitingCount == 1)
        intake.settled(first)
        _ = try await waiting.value
    }

    @Test func `says to all who wait why nothing is taken any more`() async throws {
        let intake = SenderIntake(pendingMax: 1)
        _ = try await take(intake)
        let waiting = await waiter(intake)
        intake.close(because: "the end")
        await #expect(throws: SenderIntake.Refusal.closed(because: "the end")) { try await waiting.value }
        await #expect(throws: SenderIntake.Refusal.closed(because: "the end")) { try await take(intake) }
        #expect(throws: SenderIntake.Refusal.closed(because: "the end")) { try intake.takeAtOnce([1]) }
    }
}
