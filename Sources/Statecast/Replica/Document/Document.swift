internal import StateCoding

/// The published state, and its position.
package struct Document<State: Sendable> {
    private var content: any DocumentContent<State>
    /// Patches that are not applied yet, merged into one.
    private var pending = PatchComposer()
    /// `nil` until a snapshot is installed, and after a step that failed.
    private(set) var position: Position?
    private var size: DocumentSize

    /// - Parameter bytesMax: the maximum size of the state, encoded as a snapshot.
    package init(_ content: any DocumentContent<State>, bytesMax: Int) {
        self.content = content
        size = DocumentSize(bytesMax: bytesMax)
    }

    /// Processes a step. After a failed step all others are ignored until the next snapshot.
    ///
    /// A patch takes effect with ``applyPending()``.
    package mutating func process(_ step: DocumentStep) throws(DocumentFailure) {
        switch step {
        case .install(let snapshot, let target, let digest):
            position = nil
            pending = PatchComposer()
            try attempt(at: target) { () throws in try content.install(snapshot) }
            try check(digest, at: target)
            position = target
        case .apply(let patch, let target):
            guard position != nil else { return }
            position = nil
            pending.append(try attempt(at: target) { try Patch(decoding: patch) })
            size.grew(by: patch.count)
            position = target
        case .verify(let target, let digest):
            guard position == target else { return }
            try applyPending()
            position = nil
            try check(digest, at: target)
            position = target
        case .status: break
        }
    }

    /// Applies the pending patches.
    package mutating func applyPending() throws(DocumentFailure) {
        guard let target = position, !pending.isEmpty else { return }
        position = nil
        let patch = pending.finish()
        try attempt(at: target) { try content.apply(patch) }
        if size.isUncertain { try check(try summary(at: target), at: target) }
        position = target
    }

    /// The state to show. Pending patches must have been applied.
    package func snapshot() throws(DocumentFailure) -> StateSnapshot<State>? {
        guard let position else { return nil }
        do { return StateSnapshot(state: try content.state(), position: position) } catch {
            throw DocumentFailure(position: position, reason: misfit(error))
        }
    }

    private mutating func check(_ digest: UInt64, at position: Position) throws(DocumentFailure) {
        let own = try summary(at: position)
        guard own.digest == digest else {
            let reason = Rejection(
                .incompatible,
                "the state at revision \(position.revision) differs from the primary's: its digest is "
                    + "\(own.digest), the primary's \(digest)"
            )
            throw DocumentFailure(position: position, reason: reason)
        }
        try check(own, at: position)
    }

    /// Updates may make the state larger than a snapshot may be.
    private func check(_ summary: Summary, at position: Position) throws(DocumentFailure) {
        guard summary.bytes > size.bytesMax else { return }
        let reason = Rejection(
            .incompatible,
            "the state at revision \(position.revision) has \(summary.bytes) bytes, more than the \(size.bytesMax) "
                + "that "
                + "this replica accepts (snapshotBytesMax)"
        )
        throw DocumentFailure(position: position, reason: reason)
    }

    private mutating func summary(at position: Position) throws(DocumentFailure) -> Summary {
        let summary = try attempt(at: position) { try content.summary() }
        size.measured(summary.bytes)
        return summary
    }

    private func misfit(_ error: any Error) -> Rejection {
        Rejection(.incompatible, "the published state does not fit \(State.self): \(error)")
    }

    private func attempt<T>(at position: Position, _ body: () throws -> T) throws(DocumentFailure) -> T {
        do { return try body() } catch { throw DocumentFailure(position: position, reason: misfit(error)) }
    }
}

/// An estimate of a state's encoded size. The exact size is recomputed at intervals.
private struct DocumentSize {
    let bytesMax: Int
    private var measured = 0
    private var grown = 0

    /// In canonical form (NFC) a text has up to three times the bytes that it has in a patch.
    private static let growthFactorMax = 3
    /// A type may add to a patch, for example default values of a row, so the size is measured regularly: after these
    /// bytes of patches, or after this part of the room that is left, whichever is more. Measuring costs as much as
    /// applying the patches.
    private static let unmeasuredBytesMin = 64 << 10
    private static let unmeasuredPart = 64

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    mutating func measured(_ bytes: Int) {
        measured = bytes
        grown = 0
    }

    /// Notes that a patch of `bytes` bytes changed the state.
    mutating func grew(by bytes: Int) { grown += bytes }

    /// Whether the state may be too large.
    var isUncertain: Bool {
        grown > max(Self.unmeasuredBytesMin, (bytesMax - measured) / Self.unmeasuredPart)
            || measured + grown * Self.growthFactorMax > bytesMax
    }
}

/// Why a step could not be processed, and at which position.
package struct DocumentFailure: Error {
    let position: Position
    let reason: Rejection
}
