import Synchronization
import Testing

@testable import StateCore

@Suite struct `A serial drain queue` {
    /// A queue that threads can share.
    private final class Queue<Request: Sendable>: Sendable {
        private let queue = SerialDrainQueue<Request>()

        var isDrainedByCaller: Bool { queue.isDrainedByCaller }

        func beginDraining() -> Bool { queue.beginDraining() }
        func enqueue(_ request: Request) -> Bool { queue.enqueueOrBeginDraining(request) }
        func endDraining() -> Bool { queue.endDraining() }
        func detachDrainer() { queue.detachDrainer() }
        func attachDrainer() { queue.attachDrainer() }

        /// Dequeues all requests, to be read later.
        func dequeueAll() -> () -> [Request] {
            var batch = queue.dequeueAll()
            return {
                var requests: [Request] = []
                while let request = batch.popFirst() { requests.append(request) }
                return requests
            }
        }

        /// Enqueues a request, and drains the queue if it was idle.
        func submit(_ request: Request, to process: (Request) -> Void) {
            guard enqueue(request) else { return }
            process(request)
            drain(process)
        }

        /// Processes requests until the queue is empty. For the drainer.
        func drain(_ process: (Request) -> Void) {
            while !endDraining() {
                var batch = queue.dequeueAll()
                while let request = batch.popFirst() { process(request) }
            }
        }
    }

    @Test func `makes its first caller the drainer and queues the requests of the others in order`() {
        let queue = Queue<Int>()
        #expect(queue.enqueue(1))
        #expect(!queue.enqueue(2))
        #expect(!queue.enqueue(3))
        #expect(!queue.beginDraining())
        #expect(queue.dequeueAll()() == [2, 3])
        #expect(queue.endDraining())
    }

    @Test func `keeps its drainer while it is not empty`() {
        let queue = Queue<Int>()
        #expect(queue.beginDraining())
        #expect(!queue.enqueue(1))
        #expect(!queue.endDraining())
        #expect(queue.isDrainedByCaller)
        #expect(queue.dequeueAll()() == [1])
        #expect(queue.endDraining())
        #expect(queue.enqueue(2))
        #expect(queue.endDraining())
    }

    @Test func `keeps the order of requests that are enqueued after a batch was dequeued`() {
        let queue = Queue<Int>()
        #expect(queue.beginDraining())
        #expect(!queue.enqueue(1))
        #expect(!queue.enqueue(2))
        let first = queue.dequeueAll()
        #expect(!queue.enqueue(3))
        #expect(first() == [1, 2])
        #expect(queue.dequeueAll()() == [3])
        #expect(queue.endDraining())
    }

    @Test func `identifies the draining thread, and has none while it changes threads`() async {
        let queue = Queue<Int>()
        #expect(!queue.isDrainedByCaller)
        let elsewhere = Recorder<Bool>()
        await onThreads(1) { _ in
            elsewhere.record(queue.beginDraining())
            elsewhere.record(queue.isDrainedByCaller)
            queue.detachDrainer()
            elsewhere.record(queue.isDrainedByCaller)
            elsewhere.record(queue.beginDraining())
        }
        #expect(elsewhere.all == [true, true, false, false])
        await onThreads(1) { _ in
            queue.attachDrainer()
            elsewhere.record(queue.isDrainedByCaller)
            elsewhere.record(queue.endDraining())
            elsewhere.record(queue.isDrainedByCaller)
        }
        #expect(elsewhere.all.suffix(3) == [true, true, false])
    }

    @Test func `releases each queued request after it is processed`() {
        let queue = Queue<Witness>()
        let steps = Recorder<String>()
        #expect(queue.beginDraining())
        for number in 1...3 { #expect(!queue.enqueue(Witness { steps.record("end \(number)") })) }
        var number = 0
        queue.drain { _ in
            number += 1
            steps.record("process \(number)")
        }
        #expect(steps.all == ["process 1", "end 1", "process 2", "end 2", "process 3", "end 3"])
    }

    @Test func `loses no request of many threads, keeps the order of each thread, and has one drainer at a time`() async
    {
        let queue = Queue<(thread: Int, number: Int)>()
        let (threads, each) = (8, 5_000)
        let isProcessing = Atomic(false)
        let overlapCount = Atomic(0)
        /// Accessed without a lock on purpose: the queue itself must exclude concurrent drainers.
        nonisolated(unsafe) var processed = Array(repeating: [Int](), count: threads)
        await onThreads(threads) { thread in
            for number in 0..<each {
                queue.submit((thread, number)) { request in
                    if isProcessing.exchange(true, ordering: .relaxed) { overlapCount.add(1, ordering: .relaxed) }
                    processed[request.thread].append(request.number)
                    isProcessing.store(false, ordering: .relaxed)
                }
            }
        }
        #expect(overlapCount.load(ordering: .relaxed) == 0)
        #expect(processed == Array(repeating: Array(0..<each), count: threads))
        #expect(queue.beginDraining())
        #expect(queue.endDraining())
    }
}
