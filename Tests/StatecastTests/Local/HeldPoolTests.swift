import CounterApp
import Dispatch
import Foundation
import Statecast
import SyncProtocol
import Testing
import ZeroMQ

/// Other code may hold up the threads that tasks run on. What nodes do for each other does not need them.
@Suite(.timeLimit(.minutes(10))) struct `With all threads of Swift's pool held up` {
    /// Signals each action that it reduces.
    private static func primary(_ reduced: DispatchSemaphore) throws -> Primary<Counter> {
        try Primary(
            store: "counter",
            state: Counter(),
            actions: Counter.actions,
            configuration: .anyPorts
        ) { (state: inout Counter, _: any Action) in
            state.counter += 1
            reduced.signal()
        }
    }

    @Test func `what a thread dispatches to a sender is sent, reduced and published`() async {
        await #expect(processExitsWith: .success) {
            let (reduced, published) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let primary = try Self.primary(reduced)
            let address = try await primary.start()
            let sender = try ActionSender(store: "counter", from: address.publish)
            try await sender.send(CounterIncreaseRequested())
            reduced.wait()
            let subscription = primary.observe(replay: false) { _ in published.signal() }
            HeldPool.run {
                sender.dispatch(CounterIncreaseRequested())
                guard reduced.arrives(), published.arrives() else { return false }
                primary.dispatch(CounterIncreaseRequested())
                return reduced.arrives() && published.arrives()
            }
            withExtendedLifetime((primary, sender, subscription)) {}
        }
    }

    @Test func `a sender that is made then starts, and a replica's snapshot is encoded`() async {
        await #expect(processExitsWith: .success) {
            let reduced = DispatchSemaphore(value: 0)
            let primary = try Self.primary(reduced)
            let address = try await primary.start()
            HeldPool.run {
                let sender = try ActionSender(store: "counter", from: address.publish)
                sender.dispatch(CounterIncreaseRequested())
                guard reduced.arrives() else { return false }
                let replica = try Socket(.sub)
                try replica.connect(Endpoint(address.publish))
                let join = Address(try StoreName("counter"), .join(Nonce(bits: 1), nil)).bytes
                try replica.subscribe(join)
                guard try replica.wait(for: .readable, timeout: HeldPool.patience),
                    case .message(let message)? = try replica.receive()
                else { return false }
                return message.starts(with: join)
            }
            withExtendedLifetime(primary) {}
        }
    }
}

/// All threads of Swift's pool, each held up by a task.
private enum HeldPool {
    /// Only detects that something hangs: a time limit of a test needs a thread of the pool.
    static let patience = Duration.seconds(120)

    /// Runs the body on a thread of its own while no task can run, and ends the process: with 0 if it returns true.
    static func run(_ body: @escaping @Sendable () throws -> Bool) {
        let count = ProcessInfo.processInfo.activeProcessorCount
        let held = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            for _ in 0..<count { held.wait() }
            do { exit(try body() ? 0 : 1) } catch {
                print(error)
                exit(2)
            }
        }
        // The pool has one thread for each processor; this task has one of them.
        for _ in 1..<count { Task.detached { hold(held) } }
        hold(held)
    }

    private static func hold(_ held: DispatchSemaphore) {
        held.signal()
        DispatchSemaphore(value: 0).wait()
    }
}

extension DispatchSemaphore {
    fileprivate func arrives() -> Bool { wait(timeout: .now() + (HeldPool.patience / .seconds(1))) == .success }
}
