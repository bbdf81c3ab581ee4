/// The state as it was published, and where it stands.
internal import StateCoding

struct Document<State: Sendable> {
    private var content: any DocumentContent<State>
    /// What has still to be applied: patches that come together are made one first.
    private var pending = PatchComposer()
    /// `nil` until a snapshot is installed, and again once a step failed.
    private(set) var position: Position?
    private var size: DocumentSize

    /// - Parameter bytesMax: the most bytes that the state may have, as it would be in a snapshot.
    init(_ content: any DocumentContent<State>, bytesMax: Int) {
        self.content = content
        size = DocumentSize(bytesMax: bytesMax)
    }

    /// Takes a step. Steps behind one that failed are ignored until the next snapshot.
    ///
    /// A patch may take effect later; see `settle()`.
    mutating func take(_ step: DocumentStep) throws(DocumentFailure) {
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
            try settle()
            position = nil
            try check(digest, at: target)
            position = target
        case .status: break
        }
    }

    /// Applies what came since the last time.
    mutating func settle() throws(DocumentFailure) {
        guard let target = position, !pending.isEmpty else { return }
        position = nil
        let patch = pending.finish()
        try attempt(at: target) { try content.apply(patch) }
        if size.isUncertain { try check(try summary(at: target), at: target) }
        position = target
    }

    /// The state to show; what was taken must have been settled.
    func shown() throws(DocumentFailure) -> StateSnapshot<State>? {
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

    /// Updates may lead beyond what is accepted as a snapshot.
    private func check(_ summary: Summary, at position: Position) throws(DocumentFailure) {
        guard summary.bytes > size.bytesMax else { return }
        let reason = Rejection(
            .incompatible,
            "the state at revision \(position.revision) has \(summary.bytes) bytes, more than the \(size.bytesMax) that "
                + "this replica takes (snapshotBytesMax)"
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

/// An estimate of a state's encoded bytes, corrected now and then by measuring, which compares all that changed since the
/// last measurement.
private struct DocumentSize {
    let bytesMax: Int
    private var measured = 0
    private var grown = 0

    /// In canonical form (NFC) a text has up to three times the bytes that a patch may bring it in.
    private static let growthFactorMax = 3
    /// A type may add to what a patch contains, such as defaults of a row, so the size is measured regularly.
    private static let unmeasuredBytesMax = 64 << 10

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    mutating func measured(_ bytes: Int) {
        measured = bytes
        grown = 0
    }

    /// Notes that a patch of `bytes` bytes changed the state.
    mutating func grew(by bytes: Int) { grown += bytes }

    /// Whether the state may have more bytes than it should.
    var isUncertain: Bool {
        grown > Self.unmeasuredBytesMax || measured + grown * Self.growthFactorMax > bytesMax
    }
}

/// Why a step could not be taken, and where that leaves the replica.
struct DocumentFailure: Error {
    let position: Position
    let reason: Rejection
}
