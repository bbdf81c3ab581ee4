import StatecastCore
import Testing

@testable import StatecastProtocol

@Suite struct `An outbox of pieces` {
    @Test func `An outbox of pieces resolves the runs of a hostile primary piece by piece`() throws {
        var outbox = Outbox()
        outbox.append(ActionChunk(Array(repeating: [7], count: 1000), first: Ticket(rawValue: 1)))
        outbox.markSent(count: 1000)
        var reports = 0
        // Every second number, then all, then numbers that were never sent.
        for number in stride(from: UInt64(2), through: 1000, by: 2) {
            var runs = OutcomeRuns(first: ActionNumber(number))
            runs.append(.applied(Revision(number)))
            outbox.resolve(runs) { actions, _ in
                #expect(actions.count == 1 && actions.number == ActionNumber(number))
                reports += 1
            }
        }
        for first in [1, 1001, 1 << 62, UInt64.max - (1 << 32)] as [UInt64] {
            var runs = OutcomeRuns(first: ActionNumber(first))
            runs.append(.applied(Revision(1)), count: 1 << 32)
            outbox.resolve(runs) { actions, outcome in
                #expect(actions.count == 1 && outcome == .applied(Revision(actions.number.rawValue)))
                reports += 1
            }
        }
        #expect(reports == 1000)
        #expect(outbox.count == 0 && !outbox.hasOutstanding)
        #expect(outbox.dropChunks().count == 1)
    }
}
