import Dispatch
import StatecastThreading
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A monitor` {
    private let monitor = Monitor<[Int]>([])

    /// A task that waits for a condition, once it waits.
    private func waiter<Found: Sendable>(
        for condition: @escaping @Sendable (inout [Int]) -> Found?
    ) async -> Task<Found, any Error> {
        let (evaluations, evaluation) = AsyncStream.makeStream(of: Void.self)
        let task = Task { [monitor] in
            try await monitor.wait { elements in
                evaluation.yield()
                return condition(&elements)
            }
        }
        // The condition is evaluated before and after the waiter is added.
        var iterator = evaluations.makeAsyncIterator()
        for _ in 0..<2 { await iterator.next() }
        return task
    }

    /// A task that dequeues the first element, once it waits.
    private func consumer() async -> Task<Int, any Error> {
        await waiter { elements in elements.isEmpty ? nil : elements.removeFirst() }
    }

    @Test func `A monitor returns at once if the condition is met, also in a cancelled task`() async throws {
        monitor.change { $0 = [1, 2] }
        #expect(try await monitor.wait { $0.first } == 1)
        let task = Task { [monitor] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await monitor.wait { $0.last }
        }
        #expect(try await task.value == 2)
    }

    @Test func `A monitor resumes waiting tasks in the order in which they began to wait`() async throws {
        var consumers: [Task<Int, any Error>] = []
        for _ in 0..<10 { consumers.append(await consumer()) }
        monitor.change { $0 = Array(0..<7) }
        monitor.change { $0 += Array(7..<11) }
        for (number, consumer) in consumers.enumerated() { #expect(try await consumer.value == number) }
        #expect(monitor.value == [10])
    }

    @Test func `A monitor throws in a task that is cancelled before or during the wait, and only there`()
        async throws
    {
        let (cancelled, waiting) = (await consumer(), await consumer())
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let late = Task { [monitor] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await monitor.wait { $0.first }
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        monitor.change { $0 = [7] }
        #expect(try await waiting.value == 7)
    }

    @Test func `A monitor resumes a task whose condition another condition has met`() async throws {
        monitor.change { $0 = [0] }
        let room = await waiter { elements -> Void? in
            guard elements.isEmpty else { return nil }
            elements = [2]
            return ()
        }
        let consumer = await waiter { elements in elements.last == 1 ? elements.removeAll() : nil }
        // The condition of the room is met only by that of the consumer, which is evaluated after it.
        monitor.change { $0.append(1) }
        try await consumer.value
        try await room.value
        #expect(monitor.value == [2])
    }

    @Test func `A monitor may be used by a value that it releases`() async throws {
        let monitor = monitor
        func task() -> Task<Void, any Error> {
            let held = Held { monitor.change { $0.append(8) } }
            return Task {
                try await monitor.wait { elements -> Void? in
                    held.touch()
                    return elements.first == 7 ? () : nil
                }
            }
        }
        let task = task()
        monitor.change { $0 = [7] }
        try await task.value
        #expect(try await monitor.wait { $0.count == 2 ? $0 : nil } == [7, 8])
    }

    @Test
    func `A monitor delivers each element of many threads to one of many tasks, some of them cancelled`() async throws {
        let (count, rounds) = (4, 500)
        let consumed = Locked<[Int]>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask { [monitor] in
                    while true {
                        let attempt = Task {
                            try await monitor.wait { elements -> Int? in
                                elements.isEmpty ? nil : elements.removeFirst()
                            }
                        }
                        if Bool.random() { attempt.cancel() }
                        guard let element = try? await attempt.value else { continue }
                        guard element >= 0 else { return }
                        consumed.withLock { $0.append(element) }
                    }
                }
            }
            group.addTask { [monitor] in
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().async {
                        DispatchQueue.concurrentPerform(iterations: count) { thread in
                            for round in 0..<rounds { monitor.change { $0.append(thread * rounds + round) } }
                        }
                        monitor.change { $0 += Array(repeating: -1, count: count) }
                        continuation.resume()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(consumed.withLock { $0.sorted() } == Array(0..<count * rounds))
    }
}
