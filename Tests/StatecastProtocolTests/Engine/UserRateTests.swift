import StatecastCore
import StatecastProtocol
import Testing

/// The rates of each user, and that a user with many frames does not delay the others.
@Suite struct `A user's rate` {
    private func user(_ name: String) -> FrameSender {
        FrameSender(user: name, sendingTo: Fixture.store(), actions: nil)
    }

    private func session(_ number: UInt64) -> SessionID { SessionID(high: 77, low: number) }

    /// Ten actions or sessions a second, and two seconds of them at once.
    private static let slow = Limits.with { limits in
        (limits.maxUserActionsPerSecond, limits.maxUserSessionsPerSecond) = (10, 10)
        limits.maxUserBurst = .seconds(2)
    }

    // MARK: Limits

    @Test
    func `A user's rate of actions: frames beyond it are refused, and taken after the time that the refusal states`() {
        var bench = PrimaryBench(Self.slow)
        bench.receive(bench.frame(1...50), from: user("fast"))
        bench.turnAndCommit()
        #expect(bench.reduced == Revision(50), "a frame is not split")
        let refusals = bench.receive(bench.frame(51...51), from: user("fast")).refusals(on: .receipts(Fixture.session))
        #expect(refusals.map(\.reason.code) == [.overloaded])
        #expect(refusals.first?.retryAfter == .seconds(3))
        #expect(refusals.first?.frame?.first == ActionNumber(51))
        // Refused frames are not charged.
        for _ in 0..<100 { bench.receive(bench.frame(51...51), from: user("fast")) }
        // Others are not concerned.
        #expect(bench.receive(bench.frame(1...1, of: session(1)), from: user("other")) == [])
        #expect(bench.receive(bench.frame(1...1, of: session(2)), from: nil) == [])
        bench.turnAndCommit()
        #expect(bench.reduced == Revision(52))
        bench.now = bench.now.advanced(by: .seconds(3))
        #expect(bench.receive(bench.frame(51...51), from: user("fast")) == [])
    }

    @Test func `A user's rate holds frames that may be processed within a quarter of a second, until they may`() {
        var bench = PrimaryBench(Self.slow)
        _ = bench.tick(at: bench.now)
        bench.receive(bench.frame(1...21), from: user("fast"))
        bench.turnAndCommit()
        #expect(bench.receive(bench.frame(22...31), from: user("fast")) == [])
        #expect(bench.receive(bench.frame(1...2, of: session(1)), from: user("other")) == [])
        bench.turnAndCommit()
        #expect(bench.reduced == Revision(23), "the other user does not wait")
        #expect(!bench.hasWork)
        #expect(bench.nextDeadline == bench.now.advanced(by: .milliseconds(100)))
        // 1.1 seconds until it could be processed.
        let refusals = bench.receive(bench.frame(32...32), from: user("fast")).refusals(on: .receipts(Fixture.session))
        #expect(refusals.map(\.reason.code) == [.overloaded])
        #expect(refusals.map(\.retryAfter) == [.milliseconds(1100)])
        bench.now = bench.nextDeadline
        #expect(bench.hasWork)
        bench.turn()
        #expect(bench.reduced == Revision(33))
    }

    @Test func `A user's rate holds frames while all that wait occupy at most half of maxHeldBytes`() {
        var bench = PrimaryBench(
            .with { limits in
                (limits.maxUserActionsPerSecond, limits.maxUserBurst) = (1000, .milliseconds(1))
                (limits.maxHeldBytes, limits.maxFrameBytes) = (8 * 1000, 1000)
            }
        )
        bench.receive(bench.frame(1...2), from: user("fast"))
        bench.turnAndCommit()
        var answers: [Answer] = []
        for number in UInt64(3)...100 where answers.isEmpty {
            answers = bench.receive(bench.frame(number...number), from: user("fast"))
        }
        #expect(answers.refusals(on: .receipts(Fixture.session)).map(\.retryAfter) == [bench.limits.minRetryDelay])
        #expect(bench.engine.engine.wantsFrames, "there is memory for others")
    }

    @Test func `A user's rate of bytes bounds the size of its actions`() {
        let action = PrimaryBench().frame(1...1).actions.count
        var bench = PrimaryBench(.with { ($0.maxUserBytesPerSecond, $0.maxUserBurst) = (action, .seconds(2)) })
        bench.receive(bench.frame(1...2), from: user("fast"))
        bench.turn()
        #expect(bench.receive(bench.frame(3...6), from: user("fast")) == [])
        bench.turn()
        #expect(bench.receive(bench.frame(7...7), from: user("fast")).refusals() == [.overloaded])
        bench.now = bench.now.advanced(by: .seconds(4))
        #expect(bench.receive(bench.frame(7...7), from: user("fast")) == [])
    }

    @Test func `A user's rate counts a frame of which nothing is reduced as one action`() {
        var bench = PrimaryBench(Self.slow)
        _ = bench.tick(at: bench.now)
        bench.receive(bench.frame(1...1), from: user("fast"))
        bench.turnAndCommit()
        // Known, or ahead.
        for numbers in [1...1, 9...9] as [ClosedRange<UInt64>] {
            for _ in 0..<10 { bench.receive(bench.frame(numbers), from: user("fast")) }
            bench.turnAndCommit()
        }
        bench.receive(bench.frame(2...2), from: user("fast"))
        bench.turn()
        #expect(bench.reduced == Revision(1))
        #expect(bench.nextDeadline == bench.now.advanced(by: .milliseconds(100)))
    }

    @Test func `A user's rate of sessions: a further one is refused, and the known ones go on`() {
        var bench = PrimaryBench(.with { ($0.maxUserSessionsPerSecond, $0.maxUserBurst) = (10, .milliseconds(200)) })
        var answers: [Answer] = []
        for number in UInt64(1)...4 {
            answers += bench.receive(bench.frame(1...1, of: session(number)), from: user("fast"))
            answers += bench.turnAndCommit()
        }
        #expect(answers.refusals(of: session(3)) == [])
        let refusals = answers.refusals(on: .receipts(session(4)))
        #expect(refusals.map(\.reason.code) == [.overloaded])
        bench.receive(bench.frame(2...2, of: session(1)), from: user("fast"))
        bench.receive(bench.frame(1...1, of: session(5), opened: bench.head.rawValue), from: user("other"))
        bench.turn()
        #expect(bench.reduced == Revision(5))
        bench.now = bench.now.advanced(by: refusals.first?.retryAfter ?? .zero)
        bench.receive(bench.frame(1...1, of: session(4), opened: 3), from: user("fast"))
        bench.turn()
        #expect(bench.reduced == Revision(6))
    }

    @Test func `A user's rate may be the largest number`() {
        var bench = PrimaryBench(.with { ($0.maxUserActionsPerSecond, $0.maxUserBytesPerSecond) = (.max, .max) })
        bench.receive(bench.frame(1...100), from: user("fast"))
        bench.turn()
        #expect(bench.reduced == Revision(100))
    }

    @Test func `A user's rate bounds nothing if it is 0`() {
        var bench = PrimaryBench(
            .with { limits in
                (limits.maxUserActionsPerSecond, limits.maxUserBytesPerSecond) = (0, 0)
                limits.maxUserSessionsPerSecond = 0
                limits.maxUserBurst = .zero
            }
        )
        for number in UInt64(1)...20 {
            bench.receive(bench.frame(1...100, of: session(number)), from: user("fast"))
            bench.turnAndCommit()
        }
        #expect(bench.reduced == Revision(2000))
    }

    /// A sender that sends without end, and a primary, under one clock.
    @Test func `A user's rate is what a sender gets that always has actions`() {
        let (rate, burst, seconds) = (1000, 5, 60)
        var primary = PrimaryBench(
            .with { ($0.maxUserActionsPerSecond, $0.maxUserBurst) = (rate, .seconds(burst)) }
        )
        var sender = SenderBench()
        var asked = 0
        while sender.now < .origin.advanced(by: .seconds(seconds)) {
            primary.now = sender.now
            if primary.nextDeadline <= primary.now { _ = primary.tick(at: primary.now) }
            var answers: [Answer] = []
            if sender.asked > asked {
                asked = sender.asked
                answers += primary.subscribed(to: .receipts(Fixture.session))
            }
            while sender.machine.pendingCount < 400 { sender.send(TestAction(number: 0).encoded) }
            let frames = sender.push()
            for frame in frames { answers += primary.receive(frame, from: user("fast")) }
            answers += primary.turnAndCommit()
            for frame in answers.frames(on: .receipts(Fixture.session)) { sender.receive(frame) }
            if answers.isEmpty {
                sender.wait(until: min(primary.nextDeadline, sender.machine.nextDeadline ?? primary.nextDeadline))
            } else {
                sender.wait(until: sender.now.advanced(by: .milliseconds(1)))
            }
        }
        let limit = rate * (seconds + burst)
        let applied = Int(primary.reduced.rawValue)
        // What is processed at once may exceed the tokens.
        #expect(applied <= limit + 1024)
        #expect(applied >= limit * 95 / 100)
    }

    // MARK: Fairness

    @Test func `A user's rate leaves the others their turns: users are served in rotation`() {
        var bench = PrimaryBench()
        for first in stride(from: UInt64(1), to: 10_000, by: 1000) {
            bench.receive(bench.frame(first...(first + 999)), from: user("bulk"))
        }
        bench.receive(bench.frame(1...3, of: session(1)), from: user("other"))
        bench.receive(bench.frame(1...3, of: session(2)), from: nil)
        bench.turn()
        let runs = bench.records.flatMap(\.record.runs)
        #expect(runs.map(\.session).prefix(3) == [Fixture.session, session(1), session(2)])
        #expect(runs.first?.entries.count == 1024)
        while bench.hasWork { bench.turnAndCommit() }
        #expect(bench.reduced == Revision(10_006))
    }

    @Test func `A user's rate is not shared while no other user has frames`() {
        var bench = PrimaryBench()
        bench.receive(bench.frame(1...3000), from: user("bulk"))
        bench.turn()
        #expect(bench.reduced == Revision(3000))
    }

    // MARK: Outcomes

    @Test func `A user's rate does not let a user's outcomes displace those of others`() {
        // Four sessions, two of a user; eight runs, four of a user.
        var bench = PrimaryBench(
            .with { ($0.maxSessions, $0.maxUserSessions, $0.maxSessionRuns) = (4, 2, 8) }
        )
        for number in stride(from: UInt64(2), through: 8, by: 2) {
            bench.verdicts[number] = .rejected(Rejection(.refused, ""))
        }
        bench.receive(bench.frame(1...3, of: session(1)), from: user("other"))
        bench.turnAndCommit()
        bench.receive(bench.frame(1...3, of: session(2), opened: 1), from: user("many"))
        bench.turnAndCommit()
        bench.receive(bench.frame(1...5, of: session(3), opened: 2), from: user("many"))
        bench.turnAndCommit()
        bench.receive(bench.frame(4...4, of: session(1)), from: user("other"))
        bench.turn()
        #expect(bench.records.flatMap(\.record.forgotten) == [session(2)])
    }
}
