import Dispatch

/// Sends the results of asynchronous work.
public struct Send: Sendable {
    /// Identifies this unit of work, for services that must not perform it twice.
    public let idempotencyKey: IdempotencyKey
    let run: EffectRun
    let deliver: @Sendable (EffectAction) -> Void

    /// Sends an action and returns after it is reduced or dropped: the work was cancelled, the core has ended, or a
    /// middleware rejected the action.
    ///
    /// Senders of many actions are thereby limited to the pace at which the core reduces them.
    public func callAsFunction(_ action: any Action) async {
        await withCheckedContinuation { continuation in
            deliver(EffectAction(action: action, run: run) { continuation.resume() })
        }
        // On an idle core the code above never suspends: a loop of sends would monopolize its thread.
        if run.isDueToYield() { await Task.yield() }
    }
}

/// Sends the results of blocking work.
public struct BlockingSend: Sendable {
    /// Identifies this unit of work, for services that must not perform it twice.
    public let idempotencyKey: IdempotencyKey
    let run: EffectRun
    let deliver: @Sendable (EffectAction) -> Void

    /// Whether the work was cancelled. Actions that it sends from now on are dropped.
    public var isCancelled: Bool { run.isCancelled }

    /// Sends an action and blocks until it is reduced or dropped; see ``Send/callAsFunction(_:)``.
    public func callAsFunction(_ action: any Action) {
        let completed = DispatchSemaphore(value: 0)
        deliver(EffectAction(action: action, run: run) { completed.signal() })
        completed.wait()
    }
}

/// An action that an effect sends to the reducer.
@usableFromInline
package struct EffectAction: Sendable {
    package let action: any Action
    private let run: EffectRun
    private let onComplete: @Sendable () -> Void

    init(action: any Action, run: EffectRun, onComplete: @escaping @Sendable () -> Void) {
        self.action = action
        self.run = run
        self.onComplete = onComplete
    }

    /// The number of the unit of work that sends it.
    package var runNumber: UInt64 { run.number }

    /// The id under which the work runs, or nil.
    package var id: AnyID? { run.id }

    /// Whether the action is to be reduced: its work is not cancelled.
    package var isWanted: Bool { !run.isCancelled }

    /// Resumes the sender. Must be called exactly once, after the action is reduced or dropped.
    package func complete() { onComplete() }
}

/// Identifies one unit of work of one effect, so that an external service can recognize a repetition.
///
/// A crash between the work and its result may repeat the work in the initial effect, under another key. Work that must
/// not be repeated needs a key that is part of the state.
public struct IdempotencyKey: Hashable, Sendable, CustomStringConvertible {
    /// The history to which the revision belongs; nil for a core, whose history is not recorded.
    public let lineage: String?
    /// The incarnation of the primary that starts the work, which rises with each start; nil for a core. It is a
    /// fencing token: a service that refuses lower ones than the last is safe from a primary that was replaced.
    public let epoch: UInt64?
    /// The revision of the action to which the effect belongs.
    public let revision: UInt64
    /// The position of the work in the action's effect, from 0 in the order written.
    public let index: Int
    /// The number of the start whose initial effect contains the work; nil for the effect of an action.
    public let start: UInt64?

    /// Creates a key.
    public init(lineage: String? = nil, revision: UInt64, index: Int, start: UInt64? = nil) {
        self.init(lineage: lineage, epoch: nil, revision: revision, index: index, start: start)
    }

    package init(lineage: String?, epoch: UInt64?, revision: UInt64, index: Int, start: UInt64?) {
        self.lineage = lineage
        self.epoch = epoch
        self.revision = revision
        self.index = index
        self.start = start
    }

    func advanced(by count: Int) -> IdempotencyKey {
        IdempotencyKey(lineage: lineage, epoch: epoch, revision: revision, index: index + count, start: start)
    }

    /// `lineage/revision/index`, followed by `/start-n` for work of the `n`th start's initial effect.
    public var description: String {
        let name = "\(lineage.map { "\($0)/" } ?? "")\(revision)/\(index)"
        return start.map { "\(name)/start-\($0)" } ?? name
    }
}
