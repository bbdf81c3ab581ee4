import StatecastThreading
import Testing

@Suite struct `A lock` {
    @Test func `A lock excludes threads from each other, and wakes those that wait`() async {
        let (threads, each) = (8, 10_000)
        let lock = Lock()
        /// Accessed without another lock on purpose.
        nonisolated(unsafe) var count = 0
        await onThreads(threads) { _ in
            for _ in 0..<each {
                lock.lock()
                count += 1
                lock.unlock()
            }
        }
        #expect(count == threads * each)
    }

    @Test func `A lock traps with its message if a thread acquires it twice`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let lock = Lock(onRecursion: "the lock is held")
            lock.lock()
            lock.lock()
        }
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains("the lock is held"))
    }
}
