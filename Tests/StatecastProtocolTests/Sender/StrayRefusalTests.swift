import StatecastProtocol
import Testing

/// A sender and a primary whose messages the test carries, so that it can delay and forge them.
@Suite struct `A session that was evicted and opened again` {
    /// The primary keeps one session.
    private struct Pair {
        var primary = PrimaryBench(.with { $0.maxSessions = 1 })
        var sender = SenderBench()

        mutating func send() { sender.send(TestAction(number: 0).encoded) }

        mutating func carry(_ answers: [Answer]) {
            for frame in answers.frames(on: .receipts(sender.machine.session)) { sender.receive(frame) }
        }

        /// The primary answers the sender's subscription.
        mutating func answer() {
            primary.turn()
            carry(primary.subscribed(to: .receipts(sender.machine.session)))
        }

        /// Runs the sender until it has nothing left to do.
        mutating func exchangeMessages() {
            for _ in 0..<10 where sender.machine.pendingCount > 0 {
                sender.wait()
                answer()
                for frame in sender.push() { carry(primary.receive(frame)) }
                carry(primary.turnAndCommit())
            }
        }
    }

    /// Number 1 was applied under the first opening, and number 2 was pushed under the second one.
    ///
    /// - Returns: both with their frames.
    private func reopened() throws -> (pair: Pair, first: ActionsFrame, second: ActionsFrame) {
        var pair = Pair()
        pair.answer()
        pair.send()
        let first = try #require(pair.sender.push().first)
        pair.carry(pair.primary.receive(first))
        pair.carry(pair.primary.turnAndCommit())
        // Another sender evicts this one, which is idle.
        pair.primary.push(1...1, of: Fixture.otherSession, opened: 1)
        pair.primary.turnAndCommit()
        // The connection broke, so the sender subscribes again.
        pair.answer()
        pair.send()
        let second = try #require(pair.sender.push().first)
        #expect(first.header.opened != second.header.opened)
        #expect(second.header.base == ActionNumber(2))
        return (pair, first, second)
    }

    @Test func `a late duplicate under the old opening is refused, and no action is applied twice`() throws {
        var (pair, first, second) = try reopened()
        pair.primary.receive(first)
        pair.primary.receive(second)
        let answers = pair.primary.turnAndCommit()
        #expect(answers.refusals() == [.unknownSession])
        pair.carry(answers)
        pair.exchangeMessages()
        #expect(pair.primary.reduced == Revision(3), "two of this sender, one of the other")
        #expect(pair.sender.outcomes.count == 2)
    }

    @Test func `a forged opening is refused, and no action is applied twice`() throws {
        var (pair, _, second) = try reopened()
        pair.primary.push(2...2, opened: 1 << 40, base: 2)
        pair.primary.receive(second)
        let answers = pair.primary.turnAndCommit()
        #expect(answers.refusals() == [.unknownSession])
        pair.carry(answers)
        pair.exchangeMessages()
        #expect(pair.primary.reduced == Revision(3), "two of this sender, one of the other")
        #expect(pair.sender.outcomes.count == 2)
    }

    @Test func `the own frame is refused when the session is evicted again, and is sent in another session`()
        throws
    {
        var (pair, _, second) = try reopened()
        // Two more senders open sessions first: the session is evicted, and may not be opened again.
        for opened in [2, 3] as [UInt64] {
            pair.primary.push(1...1, of: SessionID(high: 9, low: opened), opened: opened)
            pair.primary.turnAndCommit()
        }
        let refusal = pair.primary.receive(second) + pair.primary.turn()
        #expect(refusal.refusals() == [.unknownSession])
        pair.carry(refusal)
        #expect(pair.sender.machine.session != Fixture.session)
        pair.exchangeMessages()
        #expect(pair.primary.reduced == Revision(5), "two of this sender, one of each other")
        #expect(pair.sender.outcomes.count == 2)
    }
}
