import Foundation
import Testing
import Threading
import ZeroMQ

@Suite(.timeLimit(.minutes(10))) struct `Doorbells` {
    @Test func `call their handler on the loop, once for all previous rings`() async throws {
        try await withProbe { probe, loop in
            let bell = await probe.bell { probe in
                probe.assumeOnLoop()
                probe.assumeIsolated { $0.record("answered") }
            }
            // The loop cannot answer before this job ends.
            await probe.run { _ in for _ in 0..<100 { bell.ring() } }
            #expect(await probe.events(count: 1) == ["answered"])
            bell.ring()
            #expect(await probe.events(count: 2).count == 2)
            withExtendedLifetime(bell) {}
        }
    }

    @Test func `wake a loop that falls asleep after each ring, from a thread`() async throws {
        try await withProbe { probe, _ in
            let answers = DispatchSemaphore(value: 0)
            let bell = await probe.bell { _ in answers.signal() }
            let rounds = 20_000
            // A ring that is lost leaves the thread waiting.
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    for _ in 0..<rounds {
                        bell.ring()
                        answers.wait()
                    }
                    continuation.resume()
                }
            }
        }
    }

    @Test func `wake a loop that falls asleep after each ring, from a task`() async throws {
        try await withProbe { probe, _ in
            let (answers, answer) = AsyncStream.makeStream(of: Void.self)
            let bell = await probe.bell { _ in answer.yield() }
            var answered = answers.makeAsyncIterator()
            for _ in 0..<5000 {
                bell.ring()
                await answered.next()
            }
        }
    }

    @Test func `lose no message that threads enqueue before they ring`() async throws {
        try await withProbe { probe, _ in
            let (threads, rounds) = (4, 25_000)
            let (done, finish) = AsyncStream.makeStream(of: Never.self)
            let seen = Locked(0)
            let mailbox = Mailbox()
            let bell = await probe.bell { _ in
                let count = seen.withLock { seen in
                    seen += mailbox.take()
                    return seen
                }
                if count == threads * rounds { finish.finish() }
            }
            for _ in 0..<threads {
                Thread.detachNewThread {
                    for _ in 0..<rounds {
                        mailbox.leave()
                        bell.ring()
                    }
                }
            }
            for await _ in done {}
            withExtendedLifetime(bell) {}
        }
    }

    @Test func `are answered before the timers that their handlers set`() async throws {
        try await withProbe { probe, _ in
            let bell = await probe.bell { probe in
                probe.assumeIsolated { probe in
                    probe.record("bell")
                    probe.timers[0].set(.now)
                }
            }
            await probe.run { probe in
                probe.timers = [
                    probe.loop.timer { [weak probe] in probe?.assumeIsolated { $0.record("timer") } }
                ]
                bell.ring()
            }
            #expect(await probe.events(count: 2) == ["bell", "timer"])
            withExtendedLifetime(bell) {}
        }
    }

    @Test func `do not call their handler after a cancellation`() async throws {
        try await withProbe { probe, _ in
            let (first, second) = (
                await probe.bell { $0.assumeIsolated { $0.record("first") } },
                await probe.bell { $0.assumeIsolated { $0.record("second") } }
            )
            await probe.run { _ in
                first.ring()
                first.cancel()
                second.ring()
            }
            #expect(await probe.events(count: 1) == ["second"])
            withExtendedLifetime((first, second)) {}
        }
    }

    @Test func `release their handlers when they are dropped, and at the shutdown`() async throws {
        let loop = try PollLoop()
        let probe = Probe(on: loop)
        var (dropped, bell): (AsyncStream<Never>, Doorbell?) = await holding(probe)
        #expect(bell != nil)
        bell = nil
        for await _ in dropped {}
        let (ended, kept) = await holding(probe)
        loop.shutdown()
        for await _ in ended {}
        kept.ring()
    }

    /// A doorbell, and a stream that ends when the loop has released its handler.
    private func holding(_ probe: Probe) async -> (AsyncStream<Never>, Doorbell) {
        let (released, token) = Token.make()
        return (released, await probe.bell { _ in withExtendedLifetime(token) {} })
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

extension Probe {
    /// A doorbell on the probe's loop.
    fileprivate func bell(_ answer: @escaping @Sendable (Probe) -> Void) -> Doorbell {
        loop.doorbell { [weak self] in if let self { answer(self) } }
    }
}
