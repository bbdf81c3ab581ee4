/// The state as it was published, and where it stands.
struct Document<State: Sendable> {
    private var content: any DocumentContent<State>
    /// What has still to be applied: patches that come together are made one first.
    private var pending = PatchComposer()
    /// `nil` until a snapshot is installed, and again once a step failed.
    private(set) var position: Position?

    init(_ content: any DocumentContent<State>) {
        self.content = content
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
        let own = try attempt(at: position) { try content.digest() }
        guard own == digest else {
            let reason = Rejection(
                .incompatible,
                "the state at revision \(position.revision) differs from the primary's: its digest is "
                    + "\(own), the primary's \(digest)"
            )
            throw DocumentFailure(position: position, reason: reason)
        }
    }

    private func misfit(_ error: any Error) -> Rejection {
        Rejection(.incompatible, "the published state does not fit \(State.self): \(error)")
    }

    private func attempt<T>(at position: Position, _ body: () throws -> T) throws(DocumentFailure) -> T {
        do { return try body() } catch { throw DocumentFailure(position: position, reason: misfit(error)) }
    }
}

/// Why a step could not be taken, and where that leaves the replica.
struct DocumentFailure: Error {
    let position: Position
    let reason: Rejection
}
