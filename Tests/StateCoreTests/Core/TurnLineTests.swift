import Synchronization
import Testing

@testable import StateCore

@Suite struct `A line of turns` {
    /// A line that threads can share.
    private final class Line<Request: Sendable>: Sendable {
        private let line = TurnLine<Request>()

        var isDrainedHere: Bool { line.isDrainedHere }

        func enter() -> Bool { line.enter() }
        func join(_ request: Request) -> Bool { line.join(request) }
        func leave() -> Bool { line.leave() }
        func pause() { line.pause() }
        func resume() { line.resume() }

        /// Takes all that waits, to look at it later.
        func takeAll() -> () -> [Request] {
            var taken = line.takeAll()
            return {
                var requests: [Request] = []
                while let request = taken.popFirst() { requests.append(request) }
                return requests
            }
        }

        /// Joins, and takes turns until nothing waits if nobody else does.
        func pass(_ request: Request, to take: (Request) -> Void) {
            guard join(request) else { return }
            take(request)
            takeTurns(take)
        }

        /// Takes turns until nothing waits. For the drainer.
        func takeTurns(_ take: (Request) -> Void) {
            while !leave() {
                var taken = line.takeAll()
                while let request = taken.popFirst() { take(request) }
            }
        }
    }

    @Test func `makes the first who comes the drainer, and lets the others wait in their order`() {
        let line = Line<Int>()
        #expect(line.join(1))
        #expect(!line.join(2))
        #expect(!line.join(3))
        #expect(!line.enter())
        #expect(line.takeAll()() == [2, 3])
        #expect(line.leave())
    }

    @Test func `lets nobody leave while something waits`() {
        let line = Line<Int>()
        #expect(line.enter())
        #expect(!line.join(1))
        #expect(!line.leave())
        #expect(line.isDrainedHere)
        #expect(line.takeAll()() == [1])
        #expect(line.leave())
        #expect(line.join(2))
        #expect(line.leave())
    }

    @Test func `keeps those who come after some were taken behind them`() {
        let line = Line<Int>()
        #expect(line.enter())
        #expect(!line.join(1))
        #expect(!line.join(2))
        let first = line.takeAll()
        #expect(!line.join(3))
        #expect(first() == [1, 2])
        #expect(line.takeAll()() == [3])
        #expect(line.leave())
    }

    @Test func `knows which thread drains it, and that none does while it is handed on`() async {
        let shared = Line<Int>()
        #expect(!shared.isDrainedHere)
        let elsewhere = Recorder<Bool>()
        await onThreads(1) { _ in
            elsewhere.record(shared.enter())
            elsewhere.record(shared.isDrainedHere)
            shared.pause()
            elsewhere.record(shared.isDrainedHere)
            elsewhere.record(shared.enter())
        }
        #expect(elsewhere.all == [true, true, false, false])
        await onThreads(1) { _ in
            shared.resume()
            elsewhere.record(shared.isDrainedHere)
            elsewhere.record(shared.leave())
            elsewhere.record(shared.isDrainedHere)
        }
        #expect(elsewhere.all.suffix(3) == [true, true, false])
    }

    @Test func `releases each request that waited when its turn is over`() {
        let shared = Line<Witness>()
        let steps = Recorder<String>()
        #expect(shared.enter())
        for number in 1...3 { #expect(!shared.join(Witness { steps.record("end \(number)") })) }
        var number = 0
        shared.takeTurns { _ in
            number += 1
            steps.record("turn \(number)")
        }
        #expect(steps.all == ["turn 1", "end 1", "turn 2", "end 2", "turn 3", "end 3"])
    }

    @Test func `loses nothing that many threads put in, keeps each one's order, and has one drainer at a time`() async {
        let shared = Line<(thread: Int, number: Int)>()
        let (threads, each) = (8, 5_000)
        let isBusy = Atomic(false)
        let crowded = Atomic(0)
        /// Touched without a lock, on purpose: the line itself must keep the drainers apart.
        nonisolated(unsafe) var taken = Array(repeating: [Int](), count: threads)
        await onThreads(threads) { thread in
            for number in 0..<each {
                shared.pass((thread, number)) { request in
                    if isBusy.exchange(true, ordering: .relaxed) { crowded.add(1, ordering: .relaxed) }
                    taken[request.thread].append(request.number)
                    isBusy.store(false, ordering: .relaxed)
                }
            }
        }
        #expect(crowded.load(ordering: .relaxed) == 0)
        #expect(taken == Array(repeating: Array(0..<each), count: threads))
        #expect(shared.enter())
        #expect(shared.leave())
    }
}
