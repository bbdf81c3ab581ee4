/// An action on its way from an effect to the reducer.
@usableFromInline
package struct EffectResult: Sendable {
    package let action: any Action
    private let run: EffectRun
    private let onSettled: @Sendable () -> Void

    init(action: any Action, run: EffectRun, onSettled: @escaping @Sendable () -> Void) {
        self.action = action
        self.run = run
        self.onSettled = onSettled
    }

    /// What cancels the work that sent it; nil if nothing can.
    package var id: AnyID? { run.id }

    /// Whether it is still to be reduced. Asked when its turn comes, so that what was cancelled while it waited is
    /// dropped.
    package var isWanted: Bool { !run.isCancelled }

    /// To be called exactly once, when it has been reduced or dropped: whoever sent it waits for that.
    package func settle() { onSettled() }
}
