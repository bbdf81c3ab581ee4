internal import Dispatch
internal import Locking

/// Where the first stretches of effects wait, to be run one after another in the order in which they came.
///
/// One worker at a time has the line, so what begins at once begins in strict order. But a stretch may take its time:
/// it computes, or loops over what never makes it suspend. While others wait behind it a watch is set; if the stretch
/// is still the same when the watch calls, another worker takes over the line, and the held-up one leaves it when it is
/// done.
final class StartLine: Sendable {
    typealias Stretch = @Sendable () -> Void

    /// Calls once, when a stretch has had its time.
    typealias Watch = @Sendable (_ call: @escaping @Sendable () -> Void) -> Void

    private struct Line {
        var waiting = FIFO<Stretch>()
        /// Which worker has the line; others leave it.
        var worker: UInt64 = 0
        /// A thread of the worker's own, while it works.
        var queue = StartLine.queue()
        var isWorking = false
        /// How many stretches have begun.
        var begun: UInt64 = 0
        /// Whether the last of them is the one that its worker is at.
        var isUnderWay = false
        var isWatched = false
    }

    /// How long others wait behind a stretch before they are begun beside it.
    static let patience = DispatchTimeInterval.milliseconds(10)

    private static let watching = DispatchQueue(label: "statecast.effects.watch")

    private let line = Locked(Line())
    private let watch: Watch

    convenience init() {
        self.init { Self.watching.asyncAfter(deadline: .now() + Self.patience, execute: $0) }
    }

    init(watch: @escaping Watch) { self.watch = watch }

    /// How often a worker has taken over the line from one that was held up.
    var takeovers: UInt64 { line.withLock { $0.worker } }

    /// Runs a stretch once those before it have been run, or have had their time.
    func append(_ stretch: @escaping Stretch) {
        let begunBefore: UInt64? = line.withLock { line in
            line.waiting.append(stretch)
            guard line.isWorking else {
                line.isWorking = true
                work(in: line)
                return nil
            }
            guard !line.isWatched else { return nil }
            line.isWatched = true
            return line.begun
        }
        if let begunBefore { watchOver(begunBefore) }
    }

    private func watchOver(_ begun: UInt64) { watch { self.called(after: begun) } }

    private func called(after begunBefore: UInt64) {
        let begun: UInt64? = line.withLock { line in
            guard !line.waiting.isEmpty else {
                line.isWatched = false
                return nil
            }
            if line.isUnderWay, line.begun == begunBefore {
                line.isUnderWay = false
                line.worker += 1
                line.queue = Self.queue()
                work(in: line)
            }
            return line.begun
        }
        if let begun { watchOver(begun) }
    }

    /// Sets the line's worker to work.
    private func work(in line: Line) {
        line.queue.async { [self, worker = line.worker] in
            while let stretch = next(for: worker) { stretch() }
        }
    }

    private func next(for worker: UInt64) -> Stretch? {
        line.withLock { line in
            guard line.worker == worker else { return nil }
            guard let stretch = line.waiting.popFirst() else {
                line.isWorking = false
                line.isUnderWay = false
                return nil
            }
            line.begun += 1
            line.isUnderWay = true
            return stretch
        }
    }

    private static func queue() -> DispatchQueue { DispatchQueue(label: "statecast.effects") }
}
