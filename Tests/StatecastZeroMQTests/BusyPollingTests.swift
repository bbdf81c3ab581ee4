import Foundation
import Testing

@testable import StatecastZeroMQ

@Suite(.timeLimit(.minutes(10))) struct `Busy polling` {
    // MARK: The decision

    private enum Turn {
        /// The loop finds no work.
        case idle(at: Int)
        case work(at: Int)
    }

    /// Whether the loop polls in each turn without work. Times are in microseconds.
    private func decisions(limit: Int = 400, _ turns: Turn...) -> [Bool] {
        let start = ContinuousClock.now
        var polling = BusyPolling(maxShortWait: .microseconds(limit))
        return turns.compactMap { turn in
            switch turn {
            case .idle(let time): return polling.shouldPoll(at: start + .microseconds(time))
            case .work(let time):
                polling.foundWork(at: start + .microseconds(time))
                return nil
            }
        }
    }

    @Test(arguments: [(0, true), (400, true), (401, false)])
    func `Busy polling begins after a wait that is not longer than the limit`(wait: Int, polls: Bool) {
        #expect(decisions(.idle(at: 0), .work(at: wait), .idle(at: wait + 10)) == [false, polls])
    }

    @Test func `Busy polling ends when the wait is longer than the limit, and begins again after a short wait`() {
        let decisions = decisions(
            .idle(at: 0),
            .work(at: 10),
            .idle(at: 20),
            .idle(at: 420),
            .idle(at: 421),
            .idle(at: 422),
            .work(at: 500),
            .idle(at: 501),
            .work(at: 511),
            .idle(at: 512)
        )
        #expect(decisions == [false, true, true, false, false, false, true])
    }

    @Test func `work without a wait does not start busy polling`() {
        #expect(decisions(.idle(at: 0), .work(at: 1000), .work(at: 1001), .idle(at: 1002)) == [false, false])
    }

    @Test func `Busy polling never begins with a limit of zero`() {
        #expect(decisions(limit: 0, .idle(at: 0), .work(at: 0), .idle(at: 0)) == [false, false])
    }

    // MARK: The loop

    /// A wait of an hour is short: the loop never sleeps, once it has had work.
    private static let hour = Duration.seconds(3600)

    @Test func `Busy polling serves rings, jobs, messages and due timers`() async throws {
        try await withProbe(maxBusyPolling: Self.hour) { probe, loop in
            let trigger = await probe.trigger { $0.assumeIsolated { $0.record("ring") } }
            let pull = try Bound(.pull, at: "inproc://loop-polling")
            let push = try connected(.push, to: pull.endpoint)
            let node = Node(on: loop, from: pull.intoSocket()) { _, _ in
                probe.assumeIsolated { $0.record("message") }
            }
            await node.start()
            for round in 1...1000 {
                trigger.fire()
                #expect(await probe.events(count: 3 * round - 2).last == "ring")
                try push.push([1])
                #expect(await probe.events(count: 3 * round - 1).last == "message")
                await probe.run { probe in
                    let timer = probe.loop.timer { [weak probe] in probe?.assumeIsolated { $0.record("timer") } }
                    probe.timers = [timer]
                    timer.set(.now + .microseconds(10))
                }
                #expect(await probe.events(count: 3 * round).last == "timer")
            }
            withExtendedLifetime(trigger) {}
        }
    }

    @Test func `Busy polling ends when the loop shuts down`() async throws {
        let (released, token) = Token.make()
        try await withProbe(maxBusyPolling: Self.hour) { [token] probe, _ in
            let trigger = await probe.trigger { _ in withExtendedLifetime(token) {} }
            for _ in 0..<10 { trigger.fire() }
            withExtendedLifetime(trigger) {}
        }
        _ = consume token
        for await _ in released {}
    }

    #if os(Linux)
        @Test func `a loop with work at short intervals does not sleep`() async throws {
            try await withProbe(name: "polling-busy", maxBusyPolling: Self.hour) { probe, _ in
                await probe.record("first")
                let thread = try LoopThread(named: "polling-busy")
                var fewest = Int.max
                // Without busy polling, it sleeps after each job. Locks can make it sleep, too: on a busy machine those
                // of ThreadSanitizer do so often, so one of some attempts has to succeed.
                for _ in 0..<20 where fewest >= 100 {
                    let sleeps = try thread.sleeps()
                    for _ in 0..<1000 { await probe.record("next") }
                    fewest = min(fewest, try thread.sleeps() - sleeps)
                }
                #expect(fewest < 100)
            }
        }

        @Test func `a loop without work sleeps`() async throws {
            try await withProbe(name: "polling-idle", maxBusyPolling: .milliseconds(1)) { probe, _ in
                for _ in 0..<10 { await probe.record("work") }
                let thread = try LoopThread(named: "polling-idle")
                while try !thread.isAsleep() { await Task.yield() }
            }
        }
    #endif
}

#if os(Linux)
    /// The thread of a loop, as `/proc` describes it.
    private struct LoopThread {
        private let folder: String

        init(named name: String) throws {
            let tasks = "/proc/self/task"
            let id = try FileManager.default.contentsOfDirectory(atPath: tasks).first { id in
                (try? String(contentsOfFile: "\(tasks)/\(id)/comm", encoding: .utf8)) == name + "\n"
            }
            folder = "\(tasks)/\(try #require(id, "no thread \(name)"))"
        }

        /// How often the thread has given up its processor to wait for something; yields are not counted.
        func sleeps() throws -> Int {
            let count = try status("voluntary_ctxt_switches")
            return try #require(Int(count))
        }

        func isAsleep() throws -> Bool { try status("State").hasPrefix("S") }

        private func status(_ key: String) throws -> Substring {
            let lines = try String(contentsOfFile: folder + "/status", encoding: .utf8).split(separator: "\n")
            let line = try #require(lines.first { $0.hasPrefix(key + ":") })
            return line.drop { !$0.isWhitespace }.drop { $0.isWhitespace }
        }
    }
#endif
