import Foundation
import Testing

@testable import StatecastCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite(.timeLimit(.minutes(10))) struct `A queue that changes threads` {
    /// A core whose first action causes nine more, of which a dispatching thread processes at most three in a row.
    private func chatty(_ seen: @escaping @Sendable (_ count: Int) -> Void) -> (Core<Log>, Subscription) {
        let core = Core(Log(), reducer: Log.reducer, now: { .epoch }, maxDrainedRequests: 3)
        let subscription = core.observe(replay: .none) { [weak core] change in
            let count = change.new.entries.count
            if count == 1 {
                for number in 2...10 { core?.dispatch(Append(number)) }
            }
            seen(count)
        }
        return (core, subscription)
    }

    @Test func `A queue that changes threads continues on a thread that runs no task, in order`() async {
        let inTask = Recorder<Bool>()
        let (core, subscription) = chatty { _ in inTask.record(withUnsafeCurrentTask { $0 != nil }) }
        await Task.detached { core.dispatch(Append(1)) }.value
        let turns = await inTask.reaching(10)
        #expect(turns == Array(repeating: true, count: 3) + Array(repeating: false, count: 7))
        #expect(core.state.entries == Array(1...10))
        subscription.cancel()
    }

    @Test
    func `A queue that changes threads is drained while tasks occupy every thread of the cooperative pool`() async {
        let (start, done) = (Gate(), DispatchSemaphore(value: 0))
        let (core, subscription) = chatty { count in
            if count == 10 { done.signal() }
        }
        let results = await withTaskGroup { group in
            for _ in 0..<2 * ProcessInfo.processInfo.activeProcessorCount {
                group.addTask {
                    start.block()
                    core.dispatch(Append(1))
                    // A timeout: a queue that waits for the pool would block all other tests.
                    return waited(for: done)
                }
            }
            start.open()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(!results.contains(.timedOut))
        subscription.cancel()
    }

    @Test(arguments: [false, true])
    func `A queue that changes threads at its bound loses nothing, from tasks and from threads`(areTasks: Bool) async {
        let (writers, each) = (8, 5_000)
        let core = logCore()
        let done = Gate()
        let subscription = core.observe(replay: .none, oldState: .omitted) { change in
            if change.revision == UInt64(writers * each) { done.open() }
        }
        let write = { @Sendable (writer: Int) in
            for index in 0..<each { core.dispatch(Append(writer * each + index)) }
        }
        if areTasks {
            await withTaskGroup { group in
                for writer in 0..<writers { group.addTask { write(writer) } }
            }
        } else {
            await onThreads(writers, write)
        }
        await done.passed()
        let entries = core.state.entries
        for writer in 0..<writers {
            #expect(entries.filter { $0 / each == writer } == Array(writer * each..<(writer + 1) * each))
        }
        subscription.cancel()
    }

    #if os(Linux)
        @Test func `A queue that changes threads puts no enqueuing task to sleep, at any length`() async {
            let core = logCore()
            let (isLong, goOn) = (Gate(), Gate())
            let subscription = core.observe(replay: .none, oldState: .omitted) { [weak core] change in
                guard change.revision == 1 else { return }
                for _ in 0..<70_000 { core?.dispatch(Append(2)) }
                isLong.open()
                goOn.block()
            }
            let sleeps = Recorder<Int>()
            await onThreads(1) { _ in
                core.dispatch(Append(1))
            } meanwhile: {
                await isLong.passed()
                let before = sleepCount()
                for _ in 0..<100 { core.dispatch(Append(3)) }
                sleeps.record(sleepCount() - before)
                goOn.open()
            }
            // Sleeping would cost one per dispatch. A lock of the allocator may occasionally cost one.
            #expect(sleeps.all[0] < 50)
            subscription.cancel()
        }

        /// The number of voluntary context switches of the calling thread.
        private func sleepCount() -> Int {
            var usage = rusage()
            // RUSAGE_THREAD, a macro that Swift does not import.
            getrusage(1, &usage)
            return usage.ru_nvcsw
        }
    #endif
}

/// Blocks the thread until the semaphore is signalled, at most one minute, and lets the next caller pass.
private func waited(for semaphore: DispatchSemaphore) -> DispatchTimeoutResult {
    defer { semaphore.signal() }
    return semaphore.wait(timeout: .now() + .seconds(60))
}
