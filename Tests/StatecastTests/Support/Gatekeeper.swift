import Foundation

/// Lets the decoding of states pass, or holds it up.
final class Gatekeeper: @unchecked Sendable {  // every access to the variables holds the condition's lock
    private let condition = NSCondition()
    private var isClosed = false
    private var count = 0
    private var waiting = 0

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
