internal import Threading

/// A value that any thread may change, and that a test can wait for.
final class Watched<Value: Sendable>: Sendable {
    private struct Watch {
        let number: UInt64
        /// Looks at the value, and says how to wake whoever waits if it now holds what they wait for.
        let look: (inout Value) -> (() -> Void)?
        let giveUp: () -> Void
    }

    private struct Content {
        var value: Value
        var watches: [Watch] = []
        var watchCount: UInt64 = 0
    }

    private let content: Locked<Content>

    init(_ value: Value) { content = Locked(Content(value: value)) }

    /// The value as it is now.
    var value: Value { content.withLock { $0.value } }

    /// Changes the value and wakes those who waited for that, the longest waiting first.
    @discardableResult
    func change<Result>(_ body: (inout Value) -> Result) -> Result {
        // Woken without the lock, since they may come back at once.
        let (result, wakeUps) = content.withLock { content in
            let result = body(&content.value)
            var wakeUps: [() -> Void] = []
            content.watches.removeAll { watch in
                guard let wakeUp = watch.look(&content.value) else { return false }
                wakeUps.append(wakeUp)
                return true
            }
            return (result, wakeUps)
        }
        for wakeUp in wakeUps { wakeUp() }
        return result
    }

    /// What `look` finds, now or after some later change.
    ///
    /// - Parameters:
    ///   - patience: a guard against waiting for ever; nil to do just that.
    ///   - look: called with the lock held. It may take what it finds out of the value.
    /// - Returns: nil if the patience or the calling task has ended.
    func first<Found: Sendable>(
        within patience: Duration?,
        _ look: @escaping @Sendable (inout Value) -> Found?
    ) async -> Found? {
        let number = content.withLock { content in
            content.watchCount += 1
            return content.watchCount
        }
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let watch = Watch(number: number) { value in
                    look(&value).map { found in { continuation.resume(returning: found) } }
                } giveUp: {
                    continuation.resume(returning: nil)
                }
                let wakeUp = content.withLock { content -> (() -> Void)? in
                    if let wakeUp = watch.look(&content.value) { return wakeUp }
                    // A cancellation before this moment found nothing to give up.
                    if Task.isCancelled { return watch.giveUp }
                    content.watches.append(watch)
                    return nil
                }
                if let wakeUp { return wakeUp() }
                timer = patience.map { patience in
                    Task.detached {
                        try? await Task.sleep(for: patience)
                        self.giveUp(number)
                    }
                }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    private func giveUp(_ number: UInt64) {
        let watch = content.withLock { content in
            content.watches.firstIndex { $0.number == number }.map { content.watches.remove(at: $0) }
        }
        watch?.giveUp()
    }
}
