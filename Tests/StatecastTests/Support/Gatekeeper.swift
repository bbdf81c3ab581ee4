import Foundation

/// Lets the decoding of states pass, or holds it up.
final class Gatekeeper: @unchecked Sendable {  // every access to the variables holds the condition's lock
    private let condition = NSCondition()
    private var isClosed = false
    private var count = 0

    /// How often something passed.
    var passes: Int { condition.withLock { count } }

    func close() { condition.withLock { isClosed = true } }

    func open() {
        condition.withLock {
            isClosed = false
            condition.broadcast()
        }
    }

    /// Returns once the gate is open.
    func pass() {
        condition.withLock {
            while isClosed { condition.wait() }
            count += 1
        }
    }
}
