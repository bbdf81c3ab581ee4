import Dispatch
import Foundation
import Testing
import Threading

@testable import StateCore

@Suite struct `Blocking work` {
    @Test func `may run hundreds of times at once while the effects of all cores continue`() async {
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

    @Test func `beyond the number of threads is queued and runs in order`() async {
        let threads = BlockingThreadPool(threadCountMax: 2)
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

    @Test func `ends its threads when its queue is empty`() async {
        let spawned = Recorder<Void>()
        let ended = Recorder<Void>()
        let threads = BlockingThreadPool(threadCountMax: 2) { main in
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

    @Test func `does not occupy its caller when the system has no thread left`() async {
        await #expect(processExitsWith: .success) {
            // One thread of Dispatch is there, as always where tasks run.
            let ready = DispatchSemaphore(value: 0)
            DispatchQueue.global().async { ready.signal() }
            blockingWait(ready)
            // The limit does not hold for root.
            if geteuid() == 0 { #expect(setuid(65_534) == 0) }
            var (limits, none) = (rlimit(), rlimit())
            #expect(getrlimit(threads, &limits) == 0)
            none.rlim_max = limits.rlim_max
            #expect(setrlimit(threads, &none) == 0)
            let ranWithinCall = Recorder<Bool>()
            let caller = Locked<UInt?>(Threads.currentID)
            BlockingThreadPool().start { ranWithinCall.record(caller.withLock { $0 } == Threads.currentID) }
            // A thread of Dispatch may be this one, later.
            caller.withLock { $0 = nil }
            #expect(setrlimit(threads, &limits) == 0)
            #expect(await ranWithinCall.reaching(1) == [false])
        }
    }
}

private func blockingWait(_ semaphore: DispatchSemaphore) { semaphore.wait() }

#if canImport(Glibc)
    private let threads = __rlimit_resource_t(__RLIMIT_NPROC.rawValue)
#else
    private let threads = RLIMIT_NPROC
#endif
