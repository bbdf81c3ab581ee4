import Foundation

/// Lets the decoding of states pass, or holds it up. Whoever is held up holds a thread of Swift's pool, which has as few
/// as there are processors: so only one gate exists at a time.
final class Gatekeeper: @unchecked Sendable {  // every access to the variables holds the condition's lock
    private let condition = NSCondition()
    private var isClosed = false
    private var count = 0
    private var waiting = 0

    private init() {}

    /// Runs the body with a gate, once no other test has one; it is open in the end.
    static func exclusively<T>(_ body: (Gatekeeper) async throws -> T) async throws -> T {
        await turns.take()
        let gate = Gatekeeper()
        let result: Result<T, any Error>
        do { result = .success(try await body(gate)) } catch { result = .failure(error) }
        gate.open()
        await turns.giveBack()
        return try result.get()
    }

    private static let turns = Turns()

    /// How often something passed.
    var passes: Int { condition.withLock { count } }

    func close() { condition.withLock { isClosed = true } }

    func open() {
        condition.withLock {
            isClosed = false
            condition.broadcast()
        }
    }

    /// Returns once somebody stands before the gate.
    func someoneWaits() async {
        while condition.withLock({ waiting == 0 }) { await Task.yield() }
    }

    /// Returns once the gate is open.
    func pass() {
        condition.withLock {
            waiting += 1
            while isClosed { condition.wait() }
            waiting -= 1
            count += 1
        }
    }
}

/// One at a time, in the order in which they came.
private actor Turns {
    private var isTaken = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func take() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiters.append($0) }
    }

    func giveBack() {
        guard waiters.isEmpty else { return waiters.removeFirst().resume() }
        isTaken = false
    }
}
