import StatecastThreading

/// Tasks that wait until a replica shows a position.
struct PositionWaiters: Sendable {
    private struct Progress: Sendable {
        var shown: Position?
        /// Lineages that the replica has left: it does not show their positions any more.
        var left: [Lineage] = []
        /// Why the replica has stopped.
        var end: StatecastError?
        /// Why no state can be shown at present.
        var failure: Rejection?

        /// The result of waiting for a position; `nil` while it is open.
        func result(for position: Position) -> Result<Void, any Error>? {
            if let end { return .failure(end) }
            if let shown, shown.lineage == position.lineage, shown.revision >= position.revision { return .success(()) }
            if let failure { return .failure(failure) }
            guard left.contains(position.lineage) else { return nil }
            return .failure(
                StatecastError(
                    .otherLineage,
                    "revision \(position.revision) belongs to a history that the primary no longer has"
                )
            )
        }
    }

    private let progress = Monitor(Progress())
    private static let maxRememberedLineages = 64

    /// The replica shows a position.
    func shown(_ position: Position) {
        progress.change { progress in
            if let shown = progress.shown, shown.lineage != position.lineage {
                progress.left = progress.left.suffix(Self.maxRememberedLineages - 1) + [shown.lineage]
                progress.left.removeAll { $0 == position.lineage }
            }
            progress.shown = position
            progress.failure = nil
        }
    }

    /// No state can be shown until the next one that fits.
    func fail(_ reason: Rejection) { progress.change { $0.failure = reason } }

    /// The replica has stopped; the first reason counts.
    func close(because reason: StatecastError) { progress.change { $0.end = $0.end ?? reason } }

    /// - Throws: see ``Replica/reached(_:)``.
    func wait(for position: Position) async throws {
        try await progress.wait { $0.result(for: position) }.get()
    }
}
