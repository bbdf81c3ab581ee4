import Dispatch
import StatecastCore
import Testing

@Suite struct `Delivery` {
    @Test(arguments: [false, true])
    func `Delivery to a queue keeps the order, even if the queue is concurrent`(isConcurrent: Bool) async {
        let core = Lorry.core()
        let queue = DispatchQueue(label: "delivery", attributes: isConcurrent ? .concurrent : [])
        let seen = Arrivals<Int>()
        let subscription = core.observe(on: .queue(queue)) { change in
            dispatchPrecondition(condition: .onQueue(queue))
            seen.record(change.new.miles)
        }
        for miles in 1...1_000 { core.dispatch(Driven(miles: miles)) }
        #expect(await seen.next(1_001) == Array(0...1_000))
        subscription.cancel()
    }

    @Test func `Delivery to a concurrent queue delivers one change at a time`() async {
        let core = Lorry.core()
        let queue = DispatchQueue(label: "delivery", attributes: .concurrent)
        let busy = Recorder<Int>()
        let ended = Arrivals<Int>()
        let subscription = core.observe(replay: .none, on: .queue(queue)) { change in
            busy.record(change.new.miles)
            // Gives other callbacks the opportunity to run in between.
            queue.sync {}
            busy.record(change.new.miles)
            ended.record(change.new.miles)
        }
        for miles in 1...100 { core.dispatch(Driven(miles: miles)) }
        _ = await ended.next(100)
        #expect(busy.all == (1...100).flatMap { [$0, $0] })
        subscription.cancel()
    }

    @MainActor
    @Test func `Delivery to the main actor runs there`() async {
        let core = Lorry.core()
        let seen = Arrivals<Int>()
        let subscription = core.observe(on: .mainActor) { change in
            MainActor.assumeIsolated { seen.record(change.new.miles) }
        }
        await Task.detached { core.dispatch(Driven(miles: 1)) }.value
        #expect(await seen.next(2) == [0, 1])
        subscription.cancel()
    }

    @MainActor
    @Test func `Delivery to MainActor.shared may access its state`() async {
        let core = Lorry.core()
        let seen = Arrivals<Void>()
        var miles: [Int] = []
        let subscriptions = [
            core.observe(on: MainActor.shared) { change in
                miles.append(change.new.miles)
                seen.record(())
            },
            core.observe(replay: .none, on: .shared) { change in
                miles.append(-change.new.miles)
                seen.record(())
            },
        ]
        await Task.detached { core.dispatch(Driven(miles: 1)) }.value
        _ = await seen.next(3)
        #expect(miles.sorted() == [-1, 0, 1])
        subscriptions.forEach { $0.cancel() }
    }

    @Test func `Delivery to an executor may access its actors`() async {
        let core = Lorry.core()
        let resident = Resident(on: QueueExecutor())
        let seen = Arrivals<Void>()
        let subscription = core.observe(on: .executor(resident.executor)) { change in
            resident.assumeIsolated { $0.see(change.new.miles) }
            seen.record(())
        }
        core.dispatch(Driven(miles: 1))
        core.dispatch(Driven(miles: 2))
        _ = await seen.next(3)
        #expect(await resident.seen == [0, 1, 2])
        subscription.cancel()
    }

    @Test func `Delivery to a task executor runs there`() async {
        let core = Lorry.core()
        let executor = QueueExecutor()
        let seen = Arrivals<Int>()
        let subscription = core.observe(on: .taskExecutor(executor)) { change in
            executor.checkIsolated()
            seen.record(change.new.miles)
        }
        core.dispatch(Driven(miles: 1))
        #expect(await seen.next(2) == [0, 1])
        subscription.cancel()
    }

    @Test func `Delivery inline is complete when an uncontended dispatch returns`() {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let subscription = core.observe(on: .inline) { seen.record($0.new.miles) }
        core.dispatch(Driven(miles: 1))
        #expect(seen.all == [0, 1])
        subscription.cancel()
    }

    @MainActor
    @Test func `Delivery drops queued changes when the subscription is cancelled`() async {
        let core = Lorry.core()
        let seen = Recorder<Int>()
        let subscription = core.observe(replay: .none, on: .mainActor) { seen.record($0.new.miles) }
        elsewhere { core.dispatch(Driven(miles: 1)) }
        subscription.cancel()
        // After everything that was already queued for the main actor.
        await Task.detached { @MainActor in }.value
        #expect(seen.all.isEmpty)
    }

    @Test func `Delivery stops at the change whose callback cancels`() {
        let core = Lorry.core()
        let queue = DispatchQueue(label: "delivery")
        let seen = Recorder<Int>()
        let subscription = Box<Subscription>()
        queue.sync {
            subscription.set(
                core.observe(replay: .none, on: .queue(queue)) { change in
                    seen.record(change.new.miles)
                    subscription.value?.cancel()
                }
            )
            core.dispatch(Driven(miles: 1))
            core.dispatch(Driven(miles: 2))
        }
        queue.sync {}
        #expect(seen.all == [1])
    }

    @Test func `Delivery retains neither callback nor changes after its cancellation`() {
        let core = Lorry.core()
        let queue = DispatchQueue(label: "delivery")
        weak var held: Lorry.Cargo?
        weak var sent: Lorry.Cargo?
        queue.sync {
            let subscription: Subscription
            do {
                let cargo = Lorry.Cargo()
                held = cargo
                subscription = core.observe(on: .queue(queue)) { _ in withExtendedLifetime(cargo) {} }
                sent = core.state.cargo
            }
            core.dispatch(Unloaded())
            #expect(held != nil)
            #expect(sent != nil)
            subscription.cancel()
            // The queue still has to run the reader, which finds nothing.
            #expect(held == nil)
            #expect(sent == nil)
        }
    }

    @Test func `Delivery releases the source when the subscription is cancelled`() {
        let ends = Recorder<Void>()
        let source = ZeroSource(onEnd: { ends.record(()) })
        let subscription = source.observe(on: .queue(.global())) { _ in }
        #expect(ends.all.isEmpty)
        subscription.cancel()
        #expect(ends.all.count == 1)
    }

    @Test func `Delivery continues without the subscription after that was detached`() async {
        let core = Lorry.core()
        let seen = Arrivals<Int>()
        core.observe(replay: .none, on: .queue(.global())) { seen.record($0.new.miles) }.detach()
        core.dispatch(Driven(miles: 1))
        #expect(await seen.next() == 1)
    }

    @Test func `Delivery ends when the subscription is dropped`() {
        let core = Lorry.core()
        let queue = DispatchQueue(label: "delivery")
        let seen = Recorder<Int>()
        do {
            let subscription = core.observe(on: .queue(queue)) { seen.record($0.new.miles) }
            withExtendedLifetime(subscription) { core.dispatch(Driven(miles: 1)) }
            queue.sync {}
        }
        core.dispatch(Driven(miles: 2))
        queue.sync {}
        #expect(seen.all == [0, 1])
    }

    @MainActor
    @Test func `Delivery to the main actor is complete when a dispatch there returns and nothing was queued`() {
        let core = Lorry.core()
        var seen: [Int] = []
        let subscription = core.observe(on: MainActor.shared) { seen.append($0.new.miles) }
        #expect(seen == [0])
        core.dispatch(Driven(miles: 1))
        #expect(seen == [0, 1])
        subscription.cancel()
        core.dispatch(Driven(miles: 2))
        #expect(seen == [0, 1])
    }

    @MainActor
    @Test func `Delivery to the main actor keeps the order if a change is already queued`() async {
        let core = Lorry.core()
        let seen = Arrivals<Int>()
        let subscription = core.observe(replay: .none, on: .mainActor) { seen.record($0.new.miles) }
        for miles in 1...100 {
            elsewhere { core.dispatch(Driven(miles: 2 * miles)) }
            core.dispatch(Driven(miles: 2 * miles + 1))
        }
        #expect(await seen.next(200) == Array(2...201))
        subscription.cancel()
    }

    @MainActor
    @Test func `Delivery to the main actor is never re-entered`() {
        let core = Lorry.core()
        let steps = Recorder<String>()
        let subscription = core.observe(replay: .none, on: .mainActor) { [weak core] change in
            steps.record("begin \(change.new.miles)")
            if change.new.miles == 1 { core?.dispatch(Driven(miles: 2)) }
            steps.record("end \(change.new.miles)")
        }
        core.dispatch(Driven(miles: 1))
        #expect(steps.all == ["begin 1", "end 1", "begin 2", "end 2"])
        subscription.cancel()
    }
}
