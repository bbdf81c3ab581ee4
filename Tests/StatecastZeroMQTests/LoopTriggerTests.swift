import Foundation
import StatecastThreading
import StatecastZeroMQ
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Triggers of a loop` {
    @Test func `Triggers of a loop call their handler on the loop, once for all previous rings`() async throws {
        try await withProbe { probe, loop in
            let trigger = await probe.trigger { probe in
                probe.assumeOnLoop()
                probe.assumeIsolated { $0.record("answered") }
            }
            // The loop cannot answer before this job ends.
            await probe.run { _ in for _ in 0..<100 { trigger.fire() } }
            #expect(await probe.events(count: 1) == ["answered"])
            trigger.fire()
            #expect(await probe.events(count: 2).count == 2)
            withExtendedLifetime(trigger) {}
        }
    }

    @Test func `Triggers of a loop wake a loop that falls asleep after each ring, from a thread`() async throws {
        try await withProbe { probe, _ in
            let answers = DispatchSemaphore(value: 0)
            let trigger = await probe.trigger { _ in answers.signal() }
            let rounds = 20_000
            // A ring that is lost leaves the thread waiting.
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    for _ in 0..<rounds {
                        trigger.fire()
                        answers.wait()
                    }
                    continuation.resume()
                }
            }
        }
    }

    @Test func `Triggers of a loop wake a loop that falls asleep after each ring, from a task`() async throws {
        try await withProbe { probe, _ in
            let (answers, answer) = AsyncStream.makeStream(of: Void.self)
            let trigger = await probe.trigger { _ in answer.yield() }
            var answered = answers.makeAsyncIterator()
            for _ in 0..<5000 {
                trigger.fire()
                await answered.next()
            }
        }
    }

    /// In each round four threads ring, and wait until the loop, which slept, has taken all four messages. No later
    /// ring makes up for a lost one. `STATECAST_RINGS` sets the number of rings.
    @Test func `Triggers of a loop lose no message that threads enqueue before they ring`() async throws {
        let rings = ProcessInfo.processInfo.environment["STATECAST_RINGS"].flatMap { Int($0) } ?? 100_000
        try await withProbe { probe, _ in
            let threads = 4
            let (ended, end) = AsyncStream.makeStream(of: Void.self)
            let gates = (0..<threads).map { _ in DispatchSemaphore(value: 0) }
            let seen = Locked(0)
            let mailbox = Mailbox()
            let trigger = await probe.trigger { _ in
                // A ring whose message was taken for an earlier one finds none.
                let taken = mailbox.take()
                let isComplete = seen.withLock { seen in
                    seen += taken
                    return taken > 0 && seen % threads == 0
                }
                if isComplete { for gate in gates { gate.signal() } }
            }
            for gate in gates {
                Thread.detachNewThread {
                    for _ in 0..<rings / threads {
                        mailbox.leave()
                        trigger.fire()
                        gate.wait()
                    }
                    end.yield()
                }
            }
            var ends = ended.makeAsyncIterator()
            for _ in 0..<threads { await ends.next() }
            #expect(seen.withLock { $0 } == rings / threads * threads)
            withExtendedLifetime(trigger) {}
        }
    }

    @Test func `Triggers of a loop are answered before the timers that their handlers set`() async throws {
        try await withProbe { probe, _ in
            let trigger = await probe.trigger { probe in
                probe.assumeIsolated { probe in
                    probe.record("trigger")
                    probe.timers[0].set(.now)
                }
            }
            await probe.run { probe in
                probe.timers = [
                    probe.loop.timer { [weak probe] in probe?.assumeIsolated { $0.record("timer") } }
                ]
                trigger.fire()
            }
            #expect(await probe.events(count: 2) == ["trigger", "timer"])
            withExtendedLifetime(trigger) {}
        }
    }

    @Test func `Triggers of a loop do not call their handler after a cancellation`() async throws {
        try await withProbe { probe, _ in
            let (first, second) = (
                await probe.trigger { $0.assumeIsolated { $0.record("first") } },
                await probe.trigger { $0.assumeIsolated { $0.record("second") } }
            )
            await probe.run { _ in
                first.fire()
                first.cancel()
                second.fire()
            }
            #expect(await probe.events(count: 1) == ["second"])
            withExtendedLifetime((first, second)) {}
        }
    }

    @Test func `Triggers of a loop release their handlers when they are dropped, and at the shutdown`() async throws {
        let loop = try PollLoop()
        let probe = Probe(on: loop)
        var (dropped, trigger): (AsyncStream<Never>, LoopTrigger?) = await holding(probe)
        #expect(trigger != nil)
        trigger = nil
        for await _ in dropped {}
        let (ended, kept) = await holding(probe)
        loop.shutdown()
        for await _ in ended {}
        kept.fire()
    }

    /// A trigger, and a stream that ends when the loop has released its handler.
    private func holding(_ probe: Probe) async -> (AsyncStream<Never>, LoopTrigger) {
        let (released, token) = Token.make()
        return (released, await probe.trigger { _ in withExtendedLifetime(token) {} })
    }
}

/// A mailbox of a loop.
private final class Mailbox: Sendable {
    private let count = Locked(0)

    func leave() { count.withLock { $0 += 1 } }

    func take() -> Int {
        count.withLock { count in
            defer { count = 0 }
            return count
        }
    }
}
