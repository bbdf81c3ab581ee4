import Synchronization
import Testing

@testable import StatecastCore

@Suite struct `A serial drain queue` {
    /// A queue that threads can share.
    private final class Queue<Request: Sendable>: Sendable {
        private let queue = SerialDrainQueue<Request>()

        var isDrainedByCaller: Bool { queue.isDrainedByCaller }

        func beginDraining() -> Bool { queue.beginDraining() }
        func enqueue(_ request: Request) -> Bool { queue.enqueue(request) }
        func popFirst() -> Request? { queue.popFirst() }
        func endDraining() -> Bool { queue.endDraining() }
        func detachDrainer() { queue.detachDrainer() }
        func attachDrainer() { queue.attachDrainer() }

        /// Processes a request if the queue is idle, otherwise enqueues it, and drains the queue as its drainer.
        func submit(_ request: Request, to process: (Request) -> Void) {
            if beginDraining() {
                process(request)
                drain(process)
            } else if enqueue(request) {
                drain(process)
            }
        }

        /// Processes requests until the queue is empty. For the drainer.
        func drain(_ process: (Request) -> Void) {
            repeat {
                while let request = popFirst() { process(request) }
            } while !endDraining()
        }

        /// Dequeues all requests. For the drainer.
        func popAll() -> [Request] { Array(IteratorSequence(AnyIterator(popFirst))) }
    }

    @Test
    func `A serial drain queue makes its first caller the drainer and queues the requests of the others in order`() {
        let queue = Queue<Int>()
        #expect(queue.beginDraining())
        #expect(!queue.enqueue(2))
        #expect(!queue.enqueue(3))
        #expect(!queue.beginDraining())
        #expect(queue.popAll() == [2, 3])
        #expect(queue.endDraining())
    }

    @Test func `A serial drain queue makes a caller that enqueues the drainer if it is idle`() {
        let queue = Queue<Int>()
        #expect(queue.enqueue(1))
        #expect(queue.isDrainedByCaller)
        #expect(!queue.enqueue(2))
        #expect(queue.popAll() == [1, 2])
        #expect(queue.endDraining())
    }

    @Test func `A serial drain queue keeps its drainer while it is not empty`() {
        let queue = Queue<Int>()
        #expect(queue.beginDraining())
        #expect(!queue.enqueue(1))
        #expect(!queue.endDraining())
        #expect(queue.isDrainedByCaller)
        #expect(queue.popAll() == [1])
        #expect(queue.endDraining())
        #expect(queue.beginDraining())
        #expect(queue.endDraining())
    }

    @Test func `A serial drain queue keeps the order of requests that are enqueued after the first ones were taken`() {
        let queue = Queue<Int>()
        #expect(queue.beginDraining())
        #expect(!queue.enqueue(1))
        #expect(!queue.enqueue(2))
        #expect(queue.popFirst() == 1)
        #expect(!queue.enqueue(3))
        #expect(queue.popAll() == [2, 3])
        #expect(queue.endDraining())
    }

    @Test(arguments: [63, 64, 65, 1_000])
    func `A serial drain queue keeps the order of requests that fill several chunks, in each turn`(count: Int) {
        let queue = Queue<Int>()
        #expect(queue.beginDraining())
        for _ in 0..<3 {
            for number in 0..<count { #expect(!queue.enqueue(number)) }
            #expect(queue.popAll() == Array(0..<count))
        }
        #expect(queue.endDraining())
    }

    @Test func `A serial drain queue releases the requests that are queued when it is deallocated`() {
        let ends = Recorder<Int>()
        do {
            let queue = Queue<Witness>()
            #expect(queue.beginDraining())
            for number in 0..<100 { #expect(!queue.enqueue(Witness { ends.record(number) })) }
            for _ in 0..<70 { _ = queue.popFirst() }
            #expect(!queue.enqueue(Witness { ends.record(100) }))
        }
        #expect(ends.all.sorted() == Array(0...100))
    }

    @Test func `A serial drain queue identifies the draining thread, and has none while it changes threads`() async {
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

    @Test func `A serial drain queue releases each queued request after it is processed`() {
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

    @Test func `A serial drain queue loses no request, keeps each thread's order, and has one drainer at a time`() async
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
