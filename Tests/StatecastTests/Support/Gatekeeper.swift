import Foundation
import Statecast
import StatecastCoding

/// A gate that blocks the decoding of states. A blocked caller occupies a thread of Swift's pool, which has one per
/// processor, so only one gate exists at a time.
final class Gatekeeper: @unchecked Sendable {  // every access to the variables holds the condition's lock
    private let condition = NSCondition()
    private var isClosed = false
    private var count = 0
    private var waiting = 0

    private init() {}

    /// Runs the body with a gate, once no other test has one, and opens the gate at the end.
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

    /// The number of calls that passed.
    var passes: Int { condition.withLock { count } }

    func close() { condition.withLock { isClosed = true } }

    func open() {
        condition.withLock {
            isClosed = false
            condition.broadcast()
        }
    }

    /// Returns once a call is blocked.
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

/// A lock with one owner at a time, in order of arrival.
private actor Turns {
    private var isHeld = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func take() async {
        guard isHeld else {
            isHeld = true
            return
        }
        await withCheckedContinuation { waiters.append($0) }
    }

    func giveBack() {
        guard waiters.isEmpty else { return waiters.removeFirst().resume() }
        isHeld = false
    }
}

/// A content whose state is read through a gate.
struct GatedContent<Content: DocumentContent>: DocumentContent {
    private var content: Content
    private let gate: Gatekeeper

    init(_ content: Content, gate: Gatekeeper) {
        self.content = content
        self.gate = gate
    }

    mutating func install(_ snapshot: [UInt8]) throws { try content.install(snapshot) }
    mutating func apply(_ patch: Patch) throws { try content.apply(patch) }
    mutating func summary() throws -> Summary { try content.summary() }

    func state() throws -> Content.State {
        gate.pass()
        return try content.state()
    }
}
