import StatecastZeroMQ
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Deadlines` {
    /// Makes a timer that records its name and the time from which it was due.
    private func timer(_ name: String, of probe: isolated Probe) -> DeadlineTimer {
        let timer = probe.loop.timer { [weak probe] in probe?.assumeIsolated { $0.record(name) } }
        probe.timers.append(timer)
        return timer
    }

    @Test(arguments: [Duration.milliseconds(-10), .milliseconds(20)])
    func `Deadlines fire in order, whether past or future`(first: Duration) async throws {
        try await withProbe { probe, _ in
            await probe.run { probe in
                let start = ContinuousClock.now + first
                for (index, name) in ["c", "a", "d", "b"].enumerated() {
                    timer(name, of: probe).set(start + .milliseconds([3, 1, 4, 2][index]))
                }
            }
            #expect(await probe.events(count: 4) == ["a", "b", "c", "d"])
        }
    }

    @Test func `Deadlines are never early`() async throws {
        try await withProbe { probe, _ in
            await probe.run { probe in
                let deadline = ContinuousClock.now + .microseconds(1500)
                let timer = probe.loop.timer { [weak probe] in
                    let isEarly = ContinuousClock.now < deadline
                    probe?.assumeIsolated { $0.record(isEarly ? "early" : "due") }
                }
                probe.timers.append(timer)
                timer.set(deadline)
            }
            #expect(await probe.events(count: 1) == ["due"])
        }
    }

    @Test func `Deadlines fire once, and again when they are set again`() async throws {
        try await withProbe { probe, _ in
            await probe.run { probe in
                let timer = probe.loop.timer { [weak probe] in
                    probe?.assumeIsolated { probe in
                        #expect(probe.timers[0].deadline == nil)
                        if probe.events.count < 2 { probe.timers[0].set(.now) }
                        probe.record("again")
                    }
                }
                probe.timers.append(timer)
                timer.set(.now)
            }
            _ = await probe.events(count: 3)
            // A fourth call would come before this later one.
            await probe.run { probe in timer("last", of: probe).set(.now) }
            #expect(await probe.events(count: 4) == ["again", "again", "again", "last"])
        }
    }

    @Test func `Deadlines do not fire when cleared, moved, cancelled or dropped`() async throws {
        try await withProbe { probe, loop in
            await probe.run { probe in
                let start = ContinuousClock.now
                let first = timer("first", of: probe)
                let (back, moved, cancelled) = (
                    timer("back", of: probe), timer("moved", of: probe), timer("cancelled", of: probe)
                )
                for doomed in [back, moved, cancelled] { doomed.set(start + .milliseconds(1)) }
                loop.timer { [weak probe] in probe?.assumeIsolated { $0.record("dropped") } }.set(start)
                back.set(nil)
                moved.set(start + .milliseconds(3))
                cancelled.cancel()
                cancelled.set(start)
                first.set(start + .milliseconds(2))
            }
            #expect(await probe.events(count: 2) == ["first", "moved"])
        }
    }

    @Test func `Deadlines that are due together can clear each other`() async throws {
        try await withProbe { probe, _ in
            await probe.run { probe in
                let start = ContinuousClock.now
                let second = timer("second", of: probe)
                let first = probe.loop.timer { [weak probe] in
                    probe?.assumeIsolated { $0.record("first") }
                    second.set(nil)
                }
                probe.timers.append(first)
                first.set(start - .seconds(2))
                second.set(start - .seconds(1))
                timer("third", of: probe).set(start)
            }
            #expect(await probe.events(count: 2) == ["first", "third"])
        }
    }
}
