import StatecastThreading
import Testing

@testable import StatecastCore

@Suite struct `Blocking work` {
    @Test func `Blocking work may run hundreds of times at once while the effects of all cores continue`() async {
        let count = 300
        let arrived = Recorder<Void>()
        let goOn = Gate()
        let ended = Recorder<Void>()
        let asked = Recorder<String>()
        let core = effectCore([
            "block": .blocking { _ in
                arrived.record(())
                goOn.block()
                ended.record(())
            },
            "run": .run { _ in asked.record("same core") },
            "release": .run { _ in
                await arrived.reaching(count)
                goOn.open()
            },
        ])
        let other = effectCore(["run": .run { _ in asked.record("another core") }])
        for _ in 0..<count { core.dispatch(Perform("block")) }
        await arrived.reaching(count)
        core.dispatch(Perform("run"))
        other.dispatch(Perform("run"))
        let all = await asked.reaching(2)
        #expect(all.sorted() == ["another core", "same core"])
        #expect(ended.all.isEmpty)
        core.dispatch(Perform("release"))
        await ended.reaching(count)
    }

    @Test func `Blocking work beyond the number of threads is queued and runs in order`() async {
        let threads = BlockingThreadPool(maxThreadCount: 2)
        let begun = Recorder<Int>()
        let (first, others) = (Gate(), Gate())
        threads.start {
            begun.record(0)
            first.block()
        }
        await begun.reaching(1)
        threads.start {
            begun.record(1)
            others.block()
        }
        // The maximum number: both run.
        await begun.reaching(2)
        // All others are queued.
        for number in 2...4 { threads.start { begun.record(number) } }
        #expect(begun.all == [0, 1])
        first.open()
        let all = await begun.reaching(5)
        #expect(all == [0, 1, 2, 3, 4])
        others.open()
    }

    @Test func `Blocking work ends its threads when its queue is empty`() async {
        let spawned = Recorder<Void>()
        let ended = Recorder<Void>()
        let threads = BlockingThreadPool(maxThreadCount: 2) { main in
            spawned.record(())
            BlockingThreadPool.spawnThread {
                main()
                ended.record(())
            }
        }
        for number in 1...3 {
            threads.start {}
            await ended.reaching(number)
        }
        #expect(spawned.all.count == 3)
    }

    @Test func `Blocking work runs on a thread of Dispatch if the system refuses to start one`() async {
        // No system has memory for such a stack.
        let stackBytes = 1 << 60
        #expect(throws: ThreadStartError.self) { try Threads.start(name: "none", stackBytes: stackBytes) {} }
        let ran = Recorder<Void>()
        Threads.run(name: "none", stackBytes: stackBytes) { ran.record(()) }
        await ran.reaching(1)
    }
}
